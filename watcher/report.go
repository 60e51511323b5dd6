package watcher

// report makes the changed files ready for Take, if the batch is due. The watches are
// put right first: whoever reads a file after the wake may rely on them from then on.
func (r *run) report() {
	if !r.w.batch.settled() {
		return
	}
	paths, stale := r.w.takeDirty()
	if stale {
		r.sync()
	}
	seen := make(map[string]sight, len(paths))
	for _, path := range paths {
		seen[path] = look(path)
	}
	r.w.publish(seen)
}

// takeDirty returns the files that changed, and whether watches must be put right.
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

func (w *Watcher) publish(seen map[string]sight) {
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

// poll looks at the files that are polled.
func (r *run) poll() {
	r.compare(func(f *file) bool { return r.service == nil || f.polled != "" })
	if r.service != nil {
		r.sync() // what could not be watched may be watched now
	}
}

// checkAll looks at every file and asks for every watch again, which is free where it
// still stands.
func (r *run) checkAll() {
	for dir := range r.watched {
		r.watched[dir] = false
	}
	r.compare(func(*file) bool { return true })
	r.sync()
}

// compare looks at the chosen files and marks those that differ from the last look.
// The names that lead to them are followed anew by the next sync.
func (r *run) compare(chosen func(*file) bool) {
	for path, before := range r.w.sights(chosen) {
		if now := look(path); now != before { // without the lock: a network can hang
			r.w.markChanged(path, now)
		}
	}
}

func (w *Watcher) sights(chosen func(*file) bool) map[string]sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	sights := map[string]sight{}
	for path, f := range w.files {
		if chosen(f) {
			sights[path] = f.seen
			f.stale = true
		}
	}
	return sights
}

func (w *Watcher) markChanged(path string, now sight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[path]
	f.seen, f.dirty = now, true
	w.batch.touch()
}
