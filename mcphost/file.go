package mcphost

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

// This file replaces a file as a whole. The new text is written to a file beside it, which then takes its name.
// Only one process can make the file beside it, so that it is also the lock under which the old text is read:
// who makes it may write. As long as that process lives it holds on to the file in a way that ends with it, so that the
// next one can tell what a process has left behind that died, and clears it away.

const (
	lockSuffix   = ".waybill-lock"
	backupSuffix = ".waybill-backup"
	mostBytes    = 16 << 20
	mostBackups  = 1000
	pause        = 10 * time.Millisecond
)

// errSaved says that somebody saved the file after it was read.
var errSaved = errors.New("somebody else saved the file")

// A BusyError says that others are at the file. The same may succeed later.
type BusyError struct{ File, Reason string }

func (e *BusyError) Error() string { return e.File + ": " + e.Reason }

// A site is a file that is being changed.
type site struct {
	path   string // with links followed
	link   bool   // the file was reached through a link
	exists bool
	info   fs.FileInfo
	text   *string // nil if there is no file
	lock   *os.File

	beforeSwap func()
}

// open finds the file behind a path, waits for its turn, and reads it.
func open(ctx context.Context, path string, wait time.Duration) (*site, error) {
	s := &site{path: path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		s.link = isLink(path)
		s.path = target
	} else if isLink(path) {
		return nil, fmt.Errorf("%s is a link that leads nowhere: remove it, or make the file that it names", path)
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

// inside refuses a path that links lead out of a folder. Who wrote what lies there may be a stranger.
func inside(folder, path string) error {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	there := path // or as much of it as there is
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
		return fmt.Errorf("%s leads out of %s, to %s: nothing is written there for a project", path, folder, target)
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// stat refuses what is no file, or one that its owner does not want written.
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

// acquire makes the file beside it, when nobody else has made it who is still there.
func (s *site) acquire(ctx context.Context, wait time.Duration) error {
	name := s.path + lockSuffix
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
			_ = file.Close() // somebody took it for one that was left behind, and clears it away
		case !contended(err):
			return err
		case clearAway(name):
			continue
		}
		if time.Now().After(deadline) {
			return &BusyError{s.path, "another waybill changes it; if none does, remove " + name}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// close gives the turn to the next one.
func (s *site) close() {
	if s.lock != nil {
		drop(s.lock) // what was written to it is thrown away
		s.lock = nil
	}
}

// read reads the file anew, which others may have made or removed meanwhile.
func (s *site) read() error {
	s.info, s.exists, s.text = nil, false, nil
	if err := s.stat(); err != nil || !s.exists {
		return err
	}
	if s.info.Size() > mostBytes {
		return fmt.Errorf("%s has more than %d bytes, which no configuration has", s.path, mostBytes)
	}
	text, err := contents(s.path)
	s.text = &text
	return err
}

func contents(path string) (string, error) {
	raw, err := os.ReadFile(path)
	return string(raw), err
}

// write replaces the text and gives the name of the backup.
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

// dress gives the new file the mode and, where the system allows it, the owner of the old one.
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

// remove takes away a file of which nothing is left. What a link leads to stays, without anything in it.
func (s *site) remove(n notation) (backup string, err error) {
	if s.link {
		return s.write(n.nothing(), false)
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

// unchanged looks whether the file is still what was read.
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

// backup keeps the text that was read in a new file, unless there is one with just that text already.
func (s *site) backup() (string, error) {
	if !s.exists {
		return "", nil
	}
	for i := 1; i <= mostBackups; i++ {
		name := s.path + backupSuffix
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

// copyTo writes the old text to a file that must not be there yet.
func (s *site) copyTo(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, *s.text)
	keepOwner(file, s.info)
	err = errors.Join(err, file.Chmod(s.info.Mode().Perm()), file.Sync(), file.Close())
	if err != nil {
		_ = os.Remove(name) // half a backup would be worse than none
	}
	return err
}
