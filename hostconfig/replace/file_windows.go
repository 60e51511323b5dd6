package replace

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// leftAlone is the age after which a lock file counts as left over. A live process keeps it open until just before it
// removes or renames it, and Windows does not remove an open file.
const leftAlone = 2 * time.Second

// keepOwner does nothing: a new file has the access list of its folder, like the old one.
func keepOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: the system makes names durable.
func syncFolder(string) error { return nil }

// hold returns true, because no process can remove an open file.
func hold(*os.File) bool { return true }

// clearAway removes a lock file of a dead process, and reports whether it did.
func clearAway(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAlone && os.Remove(name) == nil
}

// drop removes a lock.
func drop(lock *os.File) {
	_ = lock.Close()
	_ = os.Remove(lock.Name())
}

// rename renames a lock to the file. It closes it first, because an open file cannot be renamed.
func rename(lock *os.File, name string) error {
	if err := lock.Close(); err != nil {
		return err
	}
	return os.Rename(lock.Name(), name)
}

// contended reports whether a file could not be created because it exists, or is being removed, which Windows reports
// as a lack of permission.
func contended(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission)
}
