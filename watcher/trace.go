package watcher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file is watched through folders, never by itself, because a save by rename replaces the file and its watch. The
// watcher watches each folder on the path, up to the root, for the name of its child. So it notices a replaced folder.
// Targets of links are watched in the same way. A path that is a folder is also watched for all names in it.

// point is a name in a folder whose notifications concern a file. dir has no links, because a system that already
// watches the folder under another name keeps reporting that name.
type point struct{ dir, name string }

// anyName, as the name of a point, means every name in the folder.
const anyName = ""

// maxPoints limits a chain of links.
const maxPoints = 128

// pointsOf returns the points of a path. They include all ancestor folders up to the root, or one if path is not below
// the root.
func pointsOf(path, root string) []point {
	found := pointFinder{root: root}
	found.addPath(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if dir, err := filepath.EvalSymlinks(path); err == nil {
			found.points = append(found.points, point{dir: dir, name: anyName})
		}
	}
	return found.points
}

// pointFinder collects the points of a path.
type pointFinder struct {
	root   string
	points []point
}

// addPath adds the points of path and of its ancestor folders.
func (t *pointFinder) addPath(path string) {
	t.addName(path)
	path = filepath.Dir(path)
	t.addName(path)
	for below(t.root, path) {
		path = filepath.Dir(path)
		t.addName(path)
	}
}

// below reports whether path is in the folder root; "" contains no path.
func below(root, path string) bool {
	return root != "" && path != root && within(root, path)
}

// within reports whether path is dir or is in it.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// addName adds the point of path and, if path is a link, those of its target. If the folder is missing, it adds the
// point of the folder instead.
func (t *pointFinder) addName(path string) {
	folder := filepath.Dir(path)
	if folder == path {
		return
	}
	dir, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.addName(folder)
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
	t.addPath(target)
}
