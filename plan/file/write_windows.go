package file

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

const writeFlags = os.O_WRONLY

// names returns 1, because a FileInfo has no number of hard links on Windows.
func names(fs.FileInfo) uint64 { return 1 }

// keepOwner does nothing: on Windows, the folder decides the owner of a new file.
func keepOwner(*os.File, fs.FileInfo) {}

func full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// sync does nothing: Windows cannot sync a folder.
func (s site) sync() error { return nil }

// exchange exchanges the names in steps, because the system has no atomic exchange. It retries while another program,
// such as a virus scanner, locks the file for a moment.
func (s site) exchange(temp string) (err error) {
	for range readTries {
		if err = s.emulate(temp); !busy(err) {
			return err
		}
		time.Sleep(busyPause) //permit:time.Sleep because no event tells when the other program is done
	}
	return err
}

// tryLock locks the file and returns true, or returns false if another process has the lock. Closing the file unlocks
// it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
