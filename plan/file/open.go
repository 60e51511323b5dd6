package file

import (
	"errors"
	"io/fs"
	"os"
)

// OpenRegular opens a regular file anywhere on the system. For a folder, pipe or device it returns an *Error with
// NotRegular. It does not block on a pipe. The caller closes the file.
func OpenRegular(name string) (*os.File, error) {
	seen, err := os.Stat(name) // checked first, because opening a device can have effects
	if err != nil {
		return nil, err
	}
	if err := onlyRegular(name, seen); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat() // checked again, because the name can change in between
	if err == nil {
		err = onlyRegular(name, opened)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func onlyRegular(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &Error{Path: name, Reason: NotRegular, Err: errors.New("it is not a regular file")}
}
