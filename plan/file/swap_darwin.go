package file

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange atomically exchanges the names of the two files.
func (s site) exchange(temp string) error {
	d, err := s.dir.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	err = unix.RenameatxNp(int(d.Fd()), temp, int(d.Fd()), s.base, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return s.emulate(temp) // for example on a network file system
	}
	return err
}
