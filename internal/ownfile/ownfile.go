// Package ownfile opens and locks the files that waybill keeps next to a store: regular files of this user with one name. It
// refuses every other file and repairs nothing.
package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A Refusal is the error for a file or folder that must not be used.
type Refusal struct {
	What string // the problem, with the path
	Mend string // the command or step that solves it
}

// Error returns the problem and its solution.
func (r *Refusal) Error() string { return r.What + ": " + r.Mend }

// Open opens the file at path, or creates a private one if the flags ask for that. Flags must not truncate, because
// the check follows the opening. The error is a *Refusal for links, for files that are not regular, belong to another
// user, or have a second name.
func Open(path string, flags int) (*os.File, error) {
	if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // first, because opening a device can have effects
	}
	f, err := OpenUnfollowed(path, flags)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenUnfollowed opens the file at path without following a link or waiting for the writer of a pipe. A link is a
// *Refusal.
func OpenUnfollowed(path string, flags int) (*os.File, error) {
	f, err := openUnfollowed(path, flags)
	if errors.Is(err, errLink) {
		return nil, strange(path, "is a symbolic link")
	}
	return f, err
}

// Check returns the error that Open would return for the file at path. It opens nothing.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return check(path, info)
}

func check(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return strange(path, "is a symbolic link")
	}
	if !info.Mode().IsRegular() {
		return strange(path, "is not a regular file")
	}
	uid, names := ownerIn(info)
	if uid >= 0 && uid != os.Geteuid() {
		return &Refusal{What: fmt.Sprintf("%s belongs to user %d", path, uid), Mend: remove(path)}
	}
	if names > 1 {
		return strange(path, "has a second name elsewhere")
	}
	return nil
}

// Owner returns the user id of the owner of a file, or -1 on a system where access lists decide.
func Owner(info fs.FileInfo) int {
	uid, _ := ownerIn(info)
	return uid
}

func strange(path, what string) *Refusal {
	return &Refusal{What: path + " " + what + ", which waybill never makes", Mend: remove(path)}
}

func remove(path string) string { return "look where it comes from, and remove it with rm " + path }

// TryLock returns the locked file, or nil if another process has the lock. Closing the file unlocks it.
// Its user may write into it, and it is a file that Open accepts: a hard link to another file would destroy that file.
func TryLock(path string) (*os.File, error) {
	f, err := Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("open a lock: %w", err)
	}
	had, err := tryLock(f)
	if err == nil && had {
		if had, err = stillNamed(f, path); err == nil && had {
			return f, nil
		}
	}
	return nil, errors.Join(err, f.Close())
}

// stillNamed reports whether path still names f. The lock of a removed file does not exclude other processes.
func stillNamed(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, info), err
}
