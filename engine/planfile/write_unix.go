//go:build unix

package planfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const writeFlags = os.O_WRONLY | unix.O_NONBLOCK | unix.O_NOCTTY

// names gives how many names a file has.
func names(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) //nolint:unconvert // it is narrower on some systems
}

// keepOwner gives f to whom the other file belongs. Only root may give a file to anybody; others keep
// at least the group, if it is one of theirs.
func keepOwner(f *os.File, like fs.FileInfo) {
	st, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
		_ = f.Chown(-1, int(st.Gid))
	}
}

// full reports whether there was no room on the disk, or none for this user.
func full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// sync makes the names in the folder durable.
func (s site) sync() error {
	d, err := s.dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lockFlags opens the file of a lock.
const lockFlags = os.O_RDWR | os.O_CREATE | unix.O_NOFOLLOW | unix.O_NONBLOCK

// tryLock takes the lock of the file if nobody has it. Closing the file lets go of it.
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
