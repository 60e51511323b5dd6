package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func idOf(path string) (fileID, error) { return statx(unix.AT_FDCWD, path, 0, path) }

func idOfFile(f *os.File) (fileID, error) {
	return statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, f.Name())
}

// statx asks for the file number only. A request for times makes the system stamp the next write with a precise time. A
// sync then writes that to the disk too, and a commit takes a third longer.
func statx(dir int, path string, flags int, name string) (fileID, error) {
	var st unix.Statx_t
	err := ignoringEINTR(func() error { return unix.Statx(dir, path, flags, unix.STATX_INO, &st) })
	if errors.Is(err, unix.ENOSYS) {
		return stat(dir, path, flags, name) // a kernel, or a sandbox, without it
	}
	if err != nil {
		return fileID{}, &fs.PathError{Op: "statx", Path: name, Err: err}
	}
	return fileID{device: unix.Mkdev(st.Dev_major, st.Dev_minor), number: st.Ino}, nil
}

func stat(dir int, path string, flags int, name string) (fileID, error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstatat(dir, path, &st, flags) }); err != nil {
		return fileID{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return fileID{device: st.Dev, number: st.Ino}, nil
}
