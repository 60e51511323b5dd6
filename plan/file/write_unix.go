//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const writeFlags = os.O_WRONLY | unix.O_NONBLOCK | unix.O_NOCTTY

// names returns the number of hard links of a file.
func names(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink) // it is narrower on some systems
}

// keepOwner copies the owner and group of another file to f. Without the right to change the owner, it copies only the
// group, if the user is a member of it.
func keepOwner(f *os.File, like fs.FileInfo) {
	st, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
		_ = f.Chown(-1, int(st.Gid))
	}
}

// full reports whether the disk or the quota of the user is full.
func full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// sync makes the names in the folder durable.
func (s site) sync() error {
	d, err := s.dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
