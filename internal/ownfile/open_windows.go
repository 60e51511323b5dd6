package ownfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// errLink is the error of openUnfollowed for a symbolic link.
var errLink = errors.New("it is a symbolic link")

func openUnfollowed(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	return os.OpenFile(path, flags, 0o600)
}

// ownerIn returns -1 for the owner, because access control lists decide here, and 1 for the number of names, because
// the file facts do not include it.
func ownerIn(fs.FileInfo) (uid int, names uint64) { return -1, 1 }

// tryLock locks the file and returns true, or returns false if another process has the lock. Closing the file unlocks
// it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
