package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// maxEntries limits how many names of one folder are read.
const maxEntries = 10_000

// A tree is one folder of the system with all below it, identified by its path. Nothing outside it is opened. If the
// folder is deleted and created again, or replaced by another, hold opens the new one. All names are relative to it.
type tree struct {
	dir        string // absolute; its links are not resolved
	maxEntries int    // the constant, which only tests lower

	mu     sync.RWMutex // guards the fields below; a reader of a file holds it shared
	root   *os.Root     // nil while the folder is missing
	info   fs.FileInfo  // the folder that root was opened on
	real   string       // dir with its links resolved
	closed bool
}

// hold opens the folder, and keeps it open until the caller calls release.
func (t *tree) hold() (release func(), err error) {
	if err := t.refresh(); err != nil {
		return nil, err
	}
	t.mu.RLock()
	if t.root == nil {
		t.mu.RUnlock()
		return nil, os.ErrClosed
	}
	return t.mu.RUnlock, nil
}

// refresh reopens the folder if dir now names another one. An os.Root alone would keep reading a folder that was
// deleted or moved away.
func (t *tree) refresh() error {
	info, err := os.Stat(t.dir)
	if err == nil && t.holds(info) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return os.ErrClosed
	}
	return errors.Join(t.drop(), t.reopen())
}

func (t *tree) holds(info fs.FileInfo) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.root != nil && os.SameFile(t.info, info)
}

// close releases the folder. It waits for those that hold it.
func (t *tree) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.drop()
}

// drop closes the open folder. The caller holds mu.
func (t *tree) drop() error {
	if t.root == nil {
		return nil
	}
	err := t.root.Close()
	t.root, t.info, t.real = nil, nil, ""
	return err
}

// reopen opens the folder. The caller holds mu. The identity comes from the opened folder, not from its name, because
// the name can change in between.
func (t *tree) reopen() error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	info, err := root.Stat(".")
	if err != nil {
		return errors.Join(err, root.Close())
	}
	real, err := filepath.EvalSymlinks(t.dir)
	if err != nil {
		return errors.Join(err, root.Close())
	}
	t.root, t.info, t.real = root, info, real
	return nil
}

// plain returns the absolute system path of a name.
func (t *tree) plain(name string) string {
	return t.dir + string(filepath.Separator) + filepath.FromSlash(name)
}

// list returns the names in a folder.
func (t *tree) list(dir string) (names []string, err error) {
	err = t.follow(dir, func(dir string) error {
		f, err := t.root.OpenFile(dir, openFlags, 0)
		if err != nil {
			return err
		}
		names, err = t.readNames(f, dir)
		return err
	})
	return names, err
}

// listPlain returns the names in a folder by its system path, without os.Root. The caller only compares the result.
func (t *tree) listPlain(dir string) ([]string, error) {
	f, err := os.OpenFile(dir, openFlags, 0)
	if err != nil {
		return nil, err
	}
	return t.readNames(f, dir)
}

// readNames returns the names in an open folder, and closes it. Too many entries are an error.
func (t *tree) readNames(f *os.File, dir string) ([]string, error) {
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(t.maxEntries + 1)
	switch {
	case errors.Is(err, io.EOF): // an empty folder
		return nil, nil
	case err == nil && len(names) > t.maxEntries:
		err = &Error{Path: dir, Reason: Unreadable, Err: fmt.Errorf("it has more than %d entries", t.maxEntries)}
	}
	return names, err
}
