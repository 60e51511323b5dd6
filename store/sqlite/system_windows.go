package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// fileID tells files apart, whatever their names.
type fileID struct{ device, number uint64 }

func idOf(path string) (fileID, error) {
	info, err := information(path)
	if err != nil {
		return fileID{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return idIn(info), nil
}

func idOfFile(f *os.File) (fileID, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return fileID{}, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return idIn(info), nil
}

func idIn(info windows.ByHandleFileInformation) fileID {
	return fileID{
		device: uint64(info.VolumeSerialNumber),
		number: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
	}
}

// owner returns the user -1, which is never compared: on Windows access control lists, set by the user's profile, protect
// files. It also returns the number of names of the file.
func owner(path string) (uid int, names uint64, err error) {
	info, err := information(path)
	if err != nil {
		return 0, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return -1, uint64(info.NumberOfLinks), nil
}

func information(path string) (info windows.ByHandleFileInformation, err error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return info, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, 0, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return info, err
	}
	defer windows.CloseHandle(h)
	err = windows.GetFileInformationByHandle(h, &info)
	return info, err
}

// lockOffset is far beyond the contents of the file. A locked range cannot be read, and waiting processes read who
// holds the lock.
const lockOffset = 1 << 30

// tryLock takes the lock of the file if it is free.
func tryLock(f *os.File) (bool, error) {
	err := lockRange(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, described(err, "lock", f)
}

// waitLock takes the lock of the file. The system serves those who wait in turn.
func waitLock(f *os.File) error {
	return described(lockRange(f, windows.LOCKFILE_EXCLUSIVE_LOCK), "lock", f)
}

func unlock(f *os.File) error {
	return described(windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{Offset: lockOffset}), "unlock", f)
}

func lockRange(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: lockOffset})
}

func described(err error, doing string, f *os.File) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, f.Name(), err)
}

func volumeOf(dir string) (volume, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return volume{}, err
	}
	var v volume
	var size uint64
	if err := windows.GetDiskFreeSpaceEx(name, &v.free, &size, nil); err != nil {
		return volume{}, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	v.size = int64(size)
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return volume{}, err
	}
	switch windows.GetDriveType(root) {
	case windows.DRIVE_REMOTE:
		v.name, v.remote = "network drive", true
	case windows.DRIVE_RAMDISK:
		v.name, v.volatile = "RAM disk", true
	}
	return v, nil
}

func allocate(f *os.File, size int64) error { return fill(f, size) }

// syncDir does nothing: a rename is as durable here as the system makes it.
func syncDir(string) error { return nil }
