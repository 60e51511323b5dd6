package watcher

import (
	"os"
	"path/filepath"
	"slices"
)

// A file is watched through folders, never by itself: a save by rename replaces the
// file and would take the watch away. For every name that leads to the file, the
// folder that holds the name is watched: the file's own name in its folder, the
// folder's name in the folder above, so that a new folder in its place is noticed, and
// the same again for what a link leads to. A path that is a folder is watched in
// that way as well, and the folder itself for everything that is directly in it.

// point says that a notification about name in the folder dir concerns a file. Dir is
// free of links, because a system that has a folder already, under another of its
// names, goes on reporting that name.
type point struct{ dir, name string }

// anything, as the name of a point, is every name in the folder.
const anything = ""

// maxPoints ends a chain of links that is no use to anybody.
const maxPoints = 32

// points returns where notifications about path come from now.
func points(path string) []point {
	var found trail
	found.lead(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if dir, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, point{dir: dir, name: anything})
		}
	}
	return found
}

type trail []point

// lead adds the names of path and of its folder.
func (t *trail) lead(path string) {
	t.name(path)
	t.name(filepath.Dir(path))
}

// name adds path's name in its folder and, if that is a link, what it leads to. While
// the folder is missing, the folder's own name stands for all that is in it.
func (t *trail) name(path string) {
	folder := filepath.Dir(path)
	if folder == path {
		return
	}
	dir, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.name(folder)
		return
	}
	p := point{dir: dir, name: filepath.Base(path)}
	if slices.Contains(*t, p) || len(*t) == maxPoints {
		return
	}
	*t = append(*t, p)
	target, err := os.Readlink(path)
	if err != nil {
		return
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	t.lead(target)
}
