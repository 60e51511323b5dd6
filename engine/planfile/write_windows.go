package planfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const writeFlags = os.O_WRONLY

// names gives 1: how many names a file has is not told with its other facts here.
func names(fs.FileInfo) uint64 { return 1 }

// keepOwner does nothing: a new file belongs to whom the folder says.
func keepOwner(*os.File, fs.FileInfo) {}

func full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// sync does nothing: a rename is as durable here as the system makes it.
func (s site) sync() error { return nil }

// exchange has no help from the system. Another program that has just opened the file, such as a virus
// scanner, is waited for a little.
func (s site) exchange(temp string) (err error) {
	for range readTries {
		if err = s.emulate(temp); !busy(err) {
			return err
		}
		time.Sleep(busyPause) //nolint:forbidigo // no event tells when the other program is done
	}
	return err
}

// lockFlags opens the file of a lock.
const lockFlags = os.O_RDWR | os.O_CREATE

// tryLock takes the lock of the file if nobody has it. Closing the file lets go of it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
