package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"waybill/engine/workspace"
)

// syncTries limits the attempts to find the points of names that move meanwhile. A tree that keeps moving is polled.
const syncTries = 3

// errLostWatch is the error of a folder that the service accepted and then did not list.
var errLostWatch = errors.New("the folder is moving")

// sync finds the points of all stale files and watches their folders.
func (r *run) sync() {
	defer r.w.reportAdded()
	if r.service == nil {
		return
	}
	for range syncTries {
		traced := r.trace(r.w.takeStale())
		dirs, suspect := r.w.indexPoints(traced)
		asked, refused, err := r.installWatches(dirs, suspect)
		if err != nil {
			r.disconnect()
			r.w.switchMode(false, exhaustedReason(err))
			return
		}
		final := r.w.recordRefused(traced, refused)
		if !asked || final && r.confirm(traced) {
			return
		}
	}
}

// watchPlan is the way in which one file is watched.
type watchPlan struct {
	points []point
	polled string
}

func (r *run) trace(paths []string) map[string]watchPlan {
	traced := make(map[string]watchPlan, len(paths))
	for _, path := range paths {
		kind, remote := r.w.remote(path)
		if remote && kind != workspace.Synced {
			traced[path] = watchPlan{polled: fmt.Sprintf("its file system, %s, does not report changes by other machines", kind)}
			continue
		}
		traced[path] = watchPlan{points: pointsOf(path, r.w.opts.Root)}
	}
	return traced
}

// confirm reports whether all names still lead to the same points after their folders are watched. It marks the others
// as stale.
func (r *run) confirm(traced map[string]watchPlan) bool {
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

// indexPoints adds the traced files to the index. It returns all folders to watch, and takes the suspect ones.
func (w *Watcher) indexPoints(traced map[string]watchPlan) (dirs, suspect map[string]bool) {
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

// installWatches makes the service watch exactly dirs. It returns whether it requested a new watch, the folders that
// cannot be watched, and an error if the service has no free watches. A newly watched folder may have moved before its
// watch was in place; existing watches report every move.
func (r *run) installWatches(dirs, suspect map[string]bool) (asked bool, refused map[string]error, err error) {
	for dir := range r.watched {
		if !dirs[dir] || suspect[dir] {
			_ = r.service.Remove(dir) // often removed already
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

// verify finds folders that the service reported under an older name, because the notification of the rename had not
// arrived yet.
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

// recordRefused makes the files of refused folders polled. It reports false if a folder has vanished, which is worth
// another try. A file that is no longer polled counts as changed, because it was unwatched in between.
func (w *Watcher) recordRefused(traced map[string]watchPlan, refused map[string]error) (final bool) {
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

// reportAdded marks added files as changed: changes are noticed from now on, so an earlier one must be checked for.
func (w *Watcher) reportAdded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if f.added {
			f.added, f.dirty = false, true
			w.batch.touch()
		}
	}
}

// exhausted reports whether err means that the system has no free watches.
func exhausted(err error) bool {
	return slices.ContainsFunc(exhaustedErrors, func(e error) bool { return errors.Is(err, e) })
}
