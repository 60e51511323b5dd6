package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ForeseeStateDir returns the error that EnsureStateDir would return, as far as that is known without writing.
func (w Workspace) ForeseeStateDir() error {
	for _, dir := range []string{filepath.Dir(w.StateDir), w.StateDir} {
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return Foresee(dir)
		}
		if err != nil {
			return err
		}
		if err := refuseOther(dir); err != nil {
			return err
		}
		if !repairable(info) {
			return unsafeDir(dir, "belongs to another user")
		}
		if info.Mode().Perm()&0o700 != 0o700 {
			continue // EnsureStateDir repairs the mode
		}
		if err := writable(dir); err != nil {
			return err
		}
	}
	return nil
}

// Foresee returns the error of creating a file in a folder, or nil. For a missing folder it checks the nearest
// existing parent. It writes nothing.
func Foresee(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
			dir = filepath.Dir(dir)
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
		}
		return writable(dir)
	}
}
