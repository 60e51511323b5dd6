package mcphost

import (
	"errors"
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file has the access list of its folder, as the old one had.
func keepOwner(*os.File, fs.FileInfo) {}

// syncFolder does nothing: the system writes names down by itself.
func syncFolder(string) error { return nil }

// contended reports whether a file could not be made because it is there, or is just being removed, which is said
// to be a lack of permission.
func contended(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission)
}
