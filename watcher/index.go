package watcher

import (
	"os"
	"path/filepath"
	"strings"
)

// index maps folders and names to the files that a notification concerns.
type index map[string]*folder

// folder holds the watched names of one folder. A file system that ignores case or normalises Unicode may report another
// spelling than the watched one. So names are found by their lower case, names beyond ASCII are all compared, and the
// system decides whether two spellings are one file.
type folder struct {
	byLower map[string][]entry
	unicode []entry
	anyName []string // paths that every name in the folder concerns
}

// entry is a name in a folder and the path of the file that it concerns.
type entry struct{ name, path string }

func (x index) add(p point, path string) {
	f := x[p.dir]
	if f == nil {
		f = &folder{byLower: map[string][]entry{}}
		x[p.dir] = f
	}
	if p.name == anyName {
		f.anyName = append(f.anyName, path)
		return
	}
	e := entry{name: p.name, path: path}
	key := strings.ToLower(p.name)
	f.byLower[key] = append(f.byLower[key], e)
	if !ascii(p.name) {
		f.unicode = append(f.unicode, e)
	}
}

// match calls hit with the path of each file that name in dir concerns.
func (x index) match(dir, name string, hit func(path string)) {
	f := x[dir]
	if f == nil {
		return
	}
	for _, path := range f.anyName {
		hit(path)
	}
	for _, e := range f.byLower[strings.ToLower(name)] {
		if e.name == name || maySameFile(dir, e.name, name) {
			hit(e.path)
		}
	}
	if len(f.unicode) == 0 || ascii(name) {
		return
	}
	for _, e := range f.unicode {
		if !strings.EqualFold(e.name, name) && maySameFile(dir, e.name, name) {
			hit(e.path)
		}
	}
}

// matchAll calls hit with the path of each file that any name in dir concerns.
func (x index) matchAll(dir string, hit func(path string)) {
	f := x[dir]
	if f == nil {
		return
	}
	for _, path := range f.anyName {
		hit(path)
	}
	for _, entries := range f.byLower {
		for _, e := range entries {
			hit(e.path)
		}
	}
}

// maySameFile reports whether two spellings in dir may be one file. It reports true if one does not exist, because a
// needless check is cheaper than a missed change.
func maySameFile(dir, a, b string) bool {
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
