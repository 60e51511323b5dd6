//go:build unix

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// inodeOf returns the device and inode numbers of the folder at path.
func inodeOf(path string) (dev, ino uint64, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint64(st.Dev), uint64(st.Ino), nil // their types differ between systems
}
