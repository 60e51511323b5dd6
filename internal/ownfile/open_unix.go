//go:build unix

package ownfile

import (
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
