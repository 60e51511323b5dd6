//go:build unix && !linux

package sqlite

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func idOf(path string) (fileID, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Stat(path, &st) }); err != nil {
		return fileID{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID{device: uint64(st.Dev), number: st.Ino}, nil
}

func idOfFile(f *os.File) (fileID, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return fileID{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return fileID{device: uint64(st.Dev), number: st.Ino}, nil
}
