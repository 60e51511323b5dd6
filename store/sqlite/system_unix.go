//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// fileID tells files apart, whatever their names.
type fileID struct{ device, number uint64 }

// owner returns the id of the user who owns the file or directory, and how many names it has.
func owner(path string) (uid int, names uint64, err error) {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Stat(path, &st) }); err != nil {
		return 0, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return int(st.Uid), uint64(st.Nlink), nil
}

// tryLock takes the lock of the file if it is free.
func tryLock(f *os.File) (bool, error) {
	err := ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, described(err, "lock", f)
}

// waitLock takes the lock of the file. The kernel serves those who wait in turn.
func waitLock(f *os.File) error {
	err := ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX) })
	return described(err, "lock", f)
}

func unlock(f *os.File) error {
	return described(unix.Flock(int(f.Fd()), unix.LOCK_UN), "unlock", f)
}

func described(err error, doing string, f *os.File) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, f.Name(), err)
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
