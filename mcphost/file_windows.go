package mcphost

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// leftAlone is how long nobody has written to a lock that was left behind. One is open until just before it is removed
// or renamed, and what is open cannot be removed.
const leftAlone = 2 * time.Second

// keepOwner does nothing: a new file has the access list of its folder, as the old one had.
func keepOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: the system writes names down by itself.
func syncFolder(string) error { return nil }

// hold reports whether a new lock is there still. It is, for nobody can remove a file that is open.
func hold(*os.File) bool { return true }

// clearAway removes a lock that nobody holds, and reports whether it did.
func clearAway(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAlone && os.Remove(name) == nil
}

// drop removes a lock.
func drop(lock *os.File) {
	_ = lock.Close()
	_ = os.Remove(lock.Name())
}

// rename gives a lock the name of the file, which a file that is open cannot be given.
func rename(lock *os.File, name string) error {
	if err := lock.Close(); err != nil {
		return err
	}
	return os.Rename(lock.Name(), name)
}

// contended reports whether a file could not be made because it is there, or is just being removed, which is said
// to be a lack of permission.
func contended(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission)
}
