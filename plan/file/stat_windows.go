package file

import (
	"errors"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

const openFlags = os.O_RDONLY

// StatPath returns the Stat of the file at a path, following links.
func StatPath(path string) (Stat, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, share, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	defer func() { _ = windows.CloseHandle(h) }()
	return statHandle(h, path)
}

func statFile(f *os.File) (Stat, error) { return statHandle(windows.Handle(f.Fd()), f.Name()) }

// basicInfo is FILE_BASIC_INFO, the only structure that contains the change time.
type basicInfo struct {
	CreationTime, LastAccessTime, LastWriteTime, ChangeTime int64
	FileAttributes                                          uint32
	_                                                       uint32
}

func statHandle(h windows.Handle, path string) (Stat, error) {
	var id windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &id); err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	var basic basicInfo
	err := windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo,
		(*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic)))
	if err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return Stat{
		Size:    int64(id.FileSizeHigh)<<32 | int64(id.FileSizeLow),
		MtimeNs: unixNano(basic.LastWriteTime),
		CtimeNs: unixNano(basic.ChangeTime),
		Inode:   uint64(id.FileIndexHigh)<<32 | uint64(id.FileIndexLow),
		Dev:     uint64(id.VolumeSerialNumber),
	}, nil
}

// unixNano converts Windows time, in units of 100 ns since 1601, to nanoseconds since 1970.
func unixNano(t int64) int64 {
	ft := windows.Filetime{LowDateTime: uint32(t), HighDateTime: uint32(t >> 32)}
	return ft.Nanoseconds()
}

// busy reports whether another program, such as an editor or a virus scanner, locks the file for a moment.
func busy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}
