package watcher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file is watched through folders, never by itself: a save by rename replaces the
// file and would take the watch away. For every name that leads to the file, the
// folder that holds the name is watched: the file's own name in its folder, the
// folder's name in the folder above, so that a new folder in its place is noticed, and
// so on up to the root, and the same again for what a link leads to. A path that is a folder is watched in
// that way as well, and the folder itself for everything that is directly in it.

// point says that a notification about name in the folder dir concerns a file. Dir is
// free of links, because a system that has a folder already, under another of its
// names, goes on reporting that name.
type point struct{ dir, name string }

// anything, as the name of a point, is every name in the folder.
const anything = ""

// maxPoints ends a chain of links that is no use to anybody.
const maxPoints = 128

// points returns where notifications about path come from now. Of the folders above, all are named up to
// the root, and one where path is not below that.
func points(path, root string) []point {
	found := trail{root: root}
	found.lead(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if dir, err := filepath.EvalSymlinks(path); err == nil {
			found.points = append(found.points, point{dir: dir, name: anything})
		}
	}
	return found.points
}

// trail is the points of a path as they are found.
type trail struct {
	root   string
	points []point
}

// lead adds the names of path and of the folders above.
func (t *trail) lead(path string) {
	t.name(path)
	path = filepath.Dir(path)
	t.name(path)
	for below(t.root, path) {
		path = filepath.Dir(path)
		t.name(path)
	}
}

// below reports whether path is in the folder root, which is "" for none.
func below(root, path string) bool {
	return root != "" && path != root && within(root, path)
}

// within reports whether path is the folder dir or in it.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
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
	if slices.Contains(t.points, p) || len(t.points) >= maxPoints {
		return
	}
	t.points = append(t.points, p)
	target, err := os.Readlink(path)
	if err != nil {
		return
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	t.lead(target)
}
