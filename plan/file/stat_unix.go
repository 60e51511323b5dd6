//go:build unix

package file

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFlags prevent an open from blocking on a pipe and from acquiring a controlling terminal.
const openFlags = os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY

// StatPath returns the Stat of the file at a path, following links. It costs one system call.
func StatPath(path string) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return statOf(&st), nil
}

func statFile(f *os.File) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Stat{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return statOf(&st), nil
}

// statOf converts the types of the fields, which differ between systems.
func statOf(st *unix.Stat_t) Stat {
	return Stat{
		Size:    st.Size,
		MtimeNs: unix.TimespecToNsec(st.Mtim),
		CtimeNs: unix.TimespecToNsec(st.Ctim),
		Inode:   uint64(st.Ino),
		Dev:     uint64(st.Dev),
	}
}

// busy reports whether another program locks the file for a moment. This happens only on Windows.
func busy(error) bool { return false }
