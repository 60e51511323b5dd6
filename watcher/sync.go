package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"waybill/engine/workspace"
)

// syncTries is how often names are followed again that moved while their folders were
// being asked for. A tree that moves on and on is polled until it rests.
const syncTries = 3

// errLostWatch is given to a folder that the service took and then did not list.
var errLostWatch = errors.New("the folder is moving")

// sync finds the points of all stale files and watches their folders.
func (r *run) sync() {
	defer r.w.announce()
	if r.service == nil {
		return
	}
	for range syncTries {
		traced := r.trace(r.w.takeStale())
		dirs, suspect := r.w.install(traced)
		asked, refused, err := r.watch(dirs, suspect)
		if err != nil {
			r.disconnect()
			r.w.switchMode(false, exhaustedReason(err))
			return
		}
		final := r.w.settle(traced, refused)
		if !asked || final && r.unmoved(traced) {
			return
		}
	}
}

// way is how one file is watched.
type way struct {
	points []point
	polled string
}

func (r *run) trace(paths []string) map[string]way {
	traced := make(map[string]way, len(paths))
	for _, path := range paths {
		kind, remote := r.w.remote(path)
		if remote && kind != workspace.Synced {
			traced[path] = way{polled: fmt.Sprintf("its file system, %s, does not tell of changes made elsewhere", kind)}
			continue
		}
		traced[path] = way{points: points(path, r.w.opts.Root)}
	}
	return traced
}

// unmoved reports whether all names still lead where they led before their folders
// were watched; the files of the others are stale again.
func (r *run) unmoved(traced map[string]way) bool {
	var moved []string
	for path, now := range r.trace(slices.Collect(maps.Keys(traced))) {
		if !slices.Equal(now.points, traced[path].points) {
			moved = append(moved, path)
		}
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, path := range moved {
		f := r.w.files[path]
		f.stale, f.dirty = true, true
		r.w.batch.touch()
	}
	return len(moved) == 0
}

func (w *Watcher) takeStale() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var paths []string
	for path, f := range w.files {
		if f.stale {
			f.stale = false
			paths = append(paths, path)
		}
	}
	return paths
}

// install makes notifications find the traced files. It returns all folders that must
// be watched, and takes those whose watch is in doubt.
func (w *Watcher) install(traced map[string]way) (dirs, suspect map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, way := range traced {
		w.files[path].points = way.points
	}
	w.folders = index{}
	dirs = map[string]bool{}
	for path, f := range w.files {
		for _, p := range f.points {
			w.folders.add(p, path)
			dirs[p.dir] = true
		}
	}
	suspect, w.suspect = w.suspect, map[string]bool{}
	return dirs, suspect
}

// watch makes the service watch dirs and nothing else. It returns whether it had to ask
// for a folder, those that cannot be watched, and an error if the service can take no
// more. While nothing is asked for, whatever moves is reported by the watches that
// stand; what is asked for may have moved before the watch was there.
func (r *run) watch(dirs, suspect map[string]bool) (asked bool, refused map[string]error, err error) {
	for dir := range r.watched {
		if !dirs[dir] || suspect[dir] {
			_ = r.service.Remove(dir) // often gone already
			delete(r.watched, dir)
		}
	}
	refused = map[string]error{}
	for dir := range dirs {
		if r.watched[dir] {
			continue
		}
		asked = true
		switch err := r.service.Add(dir); {
		case err == nil:
			r.watched[dir] = true
		case exhausted(err):
			return true, nil, err
		default:
			refused[dir] = err
		}
	}
	if asked {
		r.verify(dirs, refused)
	}
	return asked, refused, nil
}

// verify finds the folders that the service took for another one that it knew under an
// older name, because the news of the renaming was still on its way.
func (r *run) verify(dirs map[string]bool, refused map[string]error) {
	listed := map[string]bool{}
	for _, dir := range r.service.WatchList() {
		listed[dir] = true
	}
	for dir := range dirs {
		if refused[dir] == nil && !listed[dir] {
			refused[dir] = errLostWatch
			delete(r.watched, dir)
		}
	}
}

// settle polls the files whose folders were refused, and reports whether that is all
// that can be done now: a folder that vanished is worth another try at once. A file
// that is polled no more is due for a report, because it changed hands unwatched.
func (w *Watcher) settle(traced map[string]way, refused map[string]error) (final bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	final = true
	for path, f := range w.files {
		polled := f.polled
		if way, ok := traced[path]; ok {
			polled = way.polled
		}
		for _, p := range f.points {
			err := refused[p.dir]
			if err == nil {
				continue
			}
			polled = err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				f.stale, final = true, false
			}
		}
		if f.polled != "" && polled == "" {
			f.dirty = true
			w.batch.touch()
		}
		f.polled = polled
	}
	return final
}

// announce makes files that were added since the last time due for a report: from now
// on a change will be noticed, so one that was made before must be looked for.
func (w *Watcher) announce() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if f.fresh {
			f.fresh, f.dirty = false, true
			w.batch.touch()
		}
	}
}

// exhausted reports whether err means that the system has no more watches to give.
func exhausted(err error) bool {
	return slices.ContainsFunc(exhaustion, func(e error) bool { return errors.Is(err, e) })
}
