//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable returns the error of creating a file in a folder, or nil. It writes nothing.
func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}

// repairable reports whether a folder belongs to this user, so that secure can set its mode.
func repairable(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
