package watcher

import (
	"os"
	"path/filepath"
	"strings"
)

// index finds the files that a notification concerns: by folder, then by name.
type index map[string]*folder

// folder holds the names that matter in one folder. A file system that ignores case
// reports the name that the writer used, and one that normalises Unicode may report
// another form, so names are found by their lower case, and names beyond ASCII are
// all compared; whether two spellings are one file is asked of the system.
type folder struct {
	byLower map[string][]entry
	unicode []entry
	every   []string // paths that any name in the folder leads to
}

// entry is a name in a folder, and the path of the file that it leads to.
type entry struct{ name, path string }

func (x index) add(p point, path string) {
	f := x[p.dir]
	if f == nil {
		f = &folder{byLower: map[string][]entry{}}
		x[p.dir] = f
	}
	if p.name == anything {
		f.every = append(f.every, path)
		return
	}
	e := entry{name: p.name, path: path}
	key := strings.ToLower(p.name)
	f.byLower[key] = append(f.byLower[key], e)
	if !ascii(p.name) {
		f.unicode = append(f.unicode, e)
	}
}

// match calls hit with the path of each file that name in dir leads to.
func (x index) match(dir, name string, hit func(path string)) {
	f := x[dir]
	if f == nil {
		return
	}
	for _, path := range f.every {
		hit(path)
	}
	for _, e := range f.byLower[strings.ToLower(name)] {
		if e.name == name || maySame(dir, e.name, name) {
			hit(e.path)
		}
	}
	if len(f.unicode) == 0 || ascii(name) {
		return
	}
	for _, e := range f.unicode {
		if !strings.EqualFold(e.name, name) && maySame(dir, e.name, name) {
			hit(e.path)
		}
	}
}

// all calls hit with the path of each file that anything in dir leads to.
func (x index) all(dir string, hit func(path string)) {
	f := x[dir]
	if f == nil {
		return
	}
	for _, path := range f.every {
		hit(path)
	}
	for _, entries := range f.byLower {
		for _, e := range entries {
			hit(e.path)
		}
	}
}

// maySame reports whether two spellings in dir are one file. When one is gone nobody
// can tell, and a needless look is cheaper than a missed change.
func maySame(dir, a, b string) bool {
	one, err := os.Lstat(filepath.Join(dir, a))
	if err != nil {
		return true
	}
	two, err := os.Lstat(filepath.Join(dir, b))
	return err != nil || os.SameFile(one, two)
}

func ascii(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return false
		}
	}
	return true
}
