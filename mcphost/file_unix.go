//go:build unix

package mcphost

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner and the group of another one, as far as whoever runs this may.
func keepOwner(file *os.File, like fs.FileInfo) {
	if owner, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(owner.Uid), int(owner.Gid))
	}
}

// syncFolder makes names last.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) { // a file system that cannot
		err = nil
	}
	return errors.Join(err, folder.Close())
}

// contended reports whether a file could not be made because it is there.
func contended(err error) bool { return errors.Is(err, fs.ErrExist) }
