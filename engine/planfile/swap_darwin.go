package planfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange makes the two files change their names in one step.
func (s site) exchange(temp string) error {
	d, err := s.dir.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	err = unix.RenameatxNp(int(d.Fd()), temp, int(d.Fd()), s.base, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return s.emulate(temp) // such as on a network
	}
	return err
}
