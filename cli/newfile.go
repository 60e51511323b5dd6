package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// newFile has write fill a file that only its owner can read, and then gives it its name: a file of that name is there
// as a whole or not at all, and none is ever replaced. A process that is killed meanwhile leaves a file path.part-….
func newFile(path string, write func(f *os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name by then, or is not wanted
	err = write(f)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return christen(f.Name(), path)
}

// christen gives a file its name. A link, unlike a rename, takes the place of nothing, and some disks have none.
func christen(temp, path string) error {
	err := os.Link(temp, path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return occupied(path)
	}
	if _, there := os.Lstat(path); !errors.Is(there, fs.ErrNotExist) {
		return occupied(path)
	}
	return os.Rename(temp, path)
}
