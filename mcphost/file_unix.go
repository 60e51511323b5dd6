//go:build unix

package mcphost

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepOwner gives a file the owner and the group of another one, as far as whoever runs this may.
func keepOwner(file *os.File, like fs.FileInfo) {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// syncFolder makes names last.
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

// hold marks a new lock as that of a process that is there, which the system takes back when that ends. It reports
// whether the lock is there still. Where a file system has no such marks, no lock is ever taken for left behind.
func hold(file *os.File) bool {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return false
	}
	return named(file)
}

// clearAway removes a lock that nobody holds, and reports whether it did.
func clearAway(name string) bool {
	// Nothing is waited for and no link is followed, whatever has the name.
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

// drop removes a lock. It is held until it has gone, so that nobody else clears it away.
func drop(lock *os.File) {
	_ = os.Remove(lock.Name())
	_ = lock.Close()
}

// rename gives a lock the name of the file. It is held until it has that.
func rename(lock *os.File, name string) error {
	if err := os.Rename(lock.Name(), name); err != nil {
		return err
	}
	_ = lock.Close() // what was written to it has been synced
	return nil
}

// contended reports whether a file could not be made because it is there.
func contended(err error) bool { return errors.Is(err, fs.ErrExist) }
