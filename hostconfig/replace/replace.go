package replace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// This file replaces a file as a whole. The new text is written to a file in the same folder, which is then renamed.
// Only one process can create that file, so it is also the lock for reading and writing. The process holds an
// operating system lock on it, so that a process can recognise and remove the file of one that died.

const (
	LockSuffix   = ".waybill-lock"   // of the file that is written, and that is then renamed
	BackupSuffix = ".waybill-backup" // of a copy of the old file
	mostBytes    = 16 << 20
	mostBackups  = 1000
	pause        = 10 * time.Millisecond
)

// errSaved says that another program saved the file after it was read.
var errSaved = errors.New("another program saved the file")

// A BusyError says that another process is changing the file. A retry may succeed.
type BusyError struct{ File, Reason string }

func (e *BusyError) Error() string { return e.File + ": " + e.Reason }

// A site is a file during a change.
type site struct {
	path   string // with links resolved
	link   bool   // the file was reached through a link
	exists bool
	info   fs.FileInfo
	text   *string // nil if there is no file
	lock   *os.File
	spare  bool // without a backup

	beforeSwap func()
}

// open resolves the path, waits for the lock, and reads the file.
func open(ctx context.Context, path string, wait time.Duration) (*site, error) {
	s := &site{path: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		s.link = isLink(path)
		s.path = target
	} else if isLink(path) {
		return nil, errDangling(path)
	}
	if err := s.stat(); err != nil {
		return nil, err
	}
	if err := s.acquire(ctx, wait); err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func errDangling(path string) error {
	return fmt.Errorf("%s is a link to a missing file: remove it, or create the file", path)
}

// inside refuses a path with links out of a folder, because a stranger may have written the project.
func inside(folder, path string) error {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	there := path // the part of the path that exists
	for there != filepath.Dir(there) {
		if _, err := os.Lstat(there); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		there = filepath.Dir(there)
	}
	target, err := filepath.EvalSymlinks(there)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, target); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s links out of %s, to %s: waybill writes a project's configuration only inside the project", path, folder, target)
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// stat refuses anything but a regular file that its owner may write.
func (s *site) stat() error {
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder, and a file is expected there", s.path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not an ordinary file", s.path)
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%s is write-protected: make it writable, or add the entry by hand", s.path)
	}
	s.info, s.exists = info, true
	return nil
}

// acquire creates the lock file, as soon as no live process has it.
func (s *site) acquire(ctx context.Context, wait time.Duration) error {
	name := s.path + LockSuffix
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	for deadline := time.Now().Add(wait); ; {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case err == nil && hold(file):
			s.lock = file
			return nil
		case err == nil:
			_ = file.Close() // another process took it for a left-over and removes it
		case !contended(err):
			return err
		case clearAway(name):
			continue
		}
		if time.Now().After(deadline) {
			return &BusyError{s.path, "another waybill is changing it; if none is running, remove " + name}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// close releases the lock.
func (s *site) close() {
	if s.lock != nil {
		drop(s.lock) // its content is not needed
		s.lock = nil
	}
}

// read reads the file again; other programs may have created or removed it.
func (s *site) read() error {
	s.info, s.exists, s.text = nil, false, nil
	if err := s.stat(); err != nil || !s.exists {
		return err
	}
	if s.info.Size() > mostBytes {
		return fmt.Errorf("%s has more than %d bytes, too many for a configuration", s.path, mostBytes)
	}
	text, err := contents(s.path)
	s.text = &text
	return err
}

func contents(path string) (string, error) {
	raw, err := os.ReadFile(path)
	return string(raw), err
}

// write replaces the text and returns the name of the backup.
func (s *site) write(text string, shared bool) (backup string, err error) {
	if _, err = io.WriteString(s.lock, text); err != nil {
		return "", err
	}
	if err = s.dress(shared); err != nil {
		return "", err
	}
	if err = s.lock.Sync(); err != nil {
		return "", err
	}
	if backup, err = s.backup(); err != nil {
		return "", err
	}
	if err = s.unchanged(); err != nil {
		return "", err
	}
	if err = rename(s.lock, s.path); err != nil {
		return "", err
	}
	s.lock = nil
	return backup, syncFolder(filepath.Dir(s.path))
}

// dress sets the mode of the new file and, if the system allows it, the owner of the old one.
func (s *site) dress(shared bool) error {
	if s.exists {
		keepOwner(s.lock, s.info)
		return s.lock.Chmod(s.info.Mode().Perm())
	}
	if shared {
		return s.lock.Chmod(0o644)
	}
	return nil
}

// remove removes a file without content. The target of a link stays as an empty document.
func (s *site) remove(nothing string) (backup string, err error) {
	if s.link {
		return s.write(nothing, false)
	}
	if backup, err = s.backup(); err != nil {
		return "", err
	}
	if err = s.unchanged(); err != nil {
		return "", err
	}
	if err = os.Remove(s.path); err != nil {
		return "", err
	}
	return backup, syncFolder(filepath.Dir(s.path))
}

// unchanged returns errSaved if the file has changed since it was read.
func (s *site) unchanged() error {
	if s.beforeSwap != nil {
		s.beforeSwap()
	}
	now, err := contents(s.path)
	switch {
	case !s.exists && errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrNotExist), err == nil && (!s.exists || now != *s.text):
		return errSaved
	}
	return err
}

// backup saves the old text in a new file, unless a backup already has it.
func (s *site) backup() (string, error) {
	if !s.exists || s.spare {
		return "", nil
	}
	for i := 1; i <= mostBackups; i++ {
		name := s.path + BackupSuffix
		if i > 1 {
			name += "-" + strconv.Itoa(i)
		}
		err := s.copyTo(name)
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("keep a backup: %w", err)
		}
		if old, err := contents(name); err == nil && old == *s.text {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s has %d backups already: remove some", s.path, mostBackups)
}

// copyTo writes the old text to a new file.
func (s *site) copyTo(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, *s.text)
	keepOwner(file, s.info)
	err = errors.Join(err, file.Chmod(s.info.Mode().Perm()), file.Sync(), file.Close())
	if err != nil {
		_ = os.Remove(name) // half a backup is worse than none
	}
	return err
}
