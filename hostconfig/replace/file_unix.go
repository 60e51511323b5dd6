//go:build unix

package replace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepOwner sets owner and group of a file to those of another one, as far as this user may.
func keepOwner(file *os.File, like fs.FileInfo) {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// syncFolder makes the names in a folder durable.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) { // a file system that cannot
		err = nil
	}
	return errors.Join(err, folder.Close())
}

// hold locks a new lock file, until the process ends at the latest. It reports whether the file still has its name.
// On file systems without such locks, no file counts as left over.
func hold(file *os.File) bool {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return false
	}
	return named(file)
}

// clearAway removes a lock file of a dead process, and reports whether it did.
func clearAway(name string) bool {
	// The open neither waits nor follows a link.
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	return named(file) && os.Remove(name) == nil
}

// named reports whether a file still has the name under which it was opened.
func named(file *os.File) bool {
	own, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(own, there)
}

// drop removes a lock file while it is still locked, so that no other process removes it as a left-over.
func drop(lock *os.File) {
	_ = os.Remove(lock.Name())
	_ = lock.Close()
}

// rename renames a lock to the file, while it is still locked.
func rename(lock *os.File, name string) error {
	if err := os.Rename(lock.Name(), name); err != nil {
		return err
	}
	_ = lock.Close() // its content was synced
	return nil
}

// contended reports whether a file could not be created because it exists.
func contended(err error) bool { return errors.Is(err, fs.ErrExist) }
