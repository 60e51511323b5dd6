//go:build unix

package ownfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errLink is the error of openUnfollowed for a symbolic link.
var errLink error = unix.ELOOP

func openUnfollowed(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0o600)
}

// ownerIn returns the id of the owner of a file, and the number of its names.
func ownerIn(info fs.FileInfo) (uid int, names uint64) {
	st := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), uint64(st.Nlink) // it is narrower on some systems
}

// tryLock locks the file and returns true, or returns false if another process has the lock. Closing the file unlocks
// it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}
