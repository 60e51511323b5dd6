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
