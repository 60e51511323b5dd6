package watcher

// report makes the changed files ready for Take if the batch is due. It updates the watches first, so that later
// changes cannot be missed.
func (r *run) report() {
	if !r.w.batch.due() {
		return
	}
	paths, stale := r.w.takeDirty()
	if stale {
		r.sync()
	}
	seen := make(map[string]snapshot, len(paths))
	for _, path := range paths {
		seen[path] = takeSnapshot(path)
	}
	r.w.publish(seen)
}

// takeDirty returns the changed files, and whether watches must be updated.
func (w *Watcher) takeDirty() (paths []string, stale bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, f := range w.files {
		if f.dirty {
			f.dirty = false
			paths = append(paths, path)
		}
		stale = stale || f.stale
	}
	return paths, stale
}

func (w *Watcher) publish(seen map[string]snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, s := range seen {
		w.files[path].seen = s
		w.ready[path] = true
	}
	if len(w.ready) > 0 {
		signal(w.wake)
	}
}

func (w *Watcher) anyPolled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, _ := w.polled()
	return n > 0
}

// poll checks the files that are polled.
func (r *run) poll() {
	r.compare(func(f *file) bool { return r.service == nil || f.polled != "" })
	if r.service != nil {
		r.sync() // a file that could not be watched may be watchable now
	}
}

// checkAll checks every file and requests every watch again, which costs nothing for an existing one.
func (r *run) checkAll() {
	for dir := range r.watched {
		r.watched[dir] = false
	}
	r.compare(func(*file) bool { return true })
	r.sync()
}

// compare takes snapshots of the chosen files and marks those that have changed. The next sync finds their points
// again.
func (r *run) compare(chosen func(*file) bool) {
	for path, before := range r.w.snapshots(chosen) {
		if now := takeSnapshot(path); now != before { // without the lock, because a network file system can hang
			r.w.markChanged(path, now)
		}
	}
}

func (w *Watcher) snapshots(chosen func(*file) bool) map[string]snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	sights := map[string]snapshot{}
	for path, f := range w.files {
		if chosen(f) {
			sights[path] = f.seen
			f.stale = true
		}
	}
	return sights
}

func (w *Watcher) markChanged(path string, now snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[path]
	f.seen, f.dirty = now, true
	w.batch.touch()
}
