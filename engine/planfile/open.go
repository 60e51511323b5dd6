package planfile

import (
	"errors"
	"io/fs"
	"os"
)

// OpenRegular opens a file by the name that the system knows it by, wherever it lies, and nothing but a regular
// file: anything else is an *Error. It never waits for the writer of a pipe. The caller closes the file.
func OpenRegular(name string) (*os.File, error) {
	seen, err := os.Stat(name) // before, because opening a device can do things
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
	opened, err := f.Stat() // after, because names can change in between
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
