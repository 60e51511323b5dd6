package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrUnsafeStateDir marks a state folder that another user could have prepared. It is never used, because a prepared
// store could queue instructions.
var ErrUnsafeStateDir = errors.New("unsafe state folder")

// StateBase returns the folder that holds the state folders of all workspaces. It creates nothing. XDG_STATE_HOME
// decides on every system; without it
//
//	everywhere else   $HOME/.local/state/waybill
//	Windows           %LOCALAPPDATA%\waybill, else %USERPROFILE%\AppData\Local\waybill
//
// Following the XDG standard, it ignores a variable that is not an absolute path.
func StateBase(env func(string) string, goos string) (string, error) {
	absolute := func(name string) (string, bool) {
		value := env(name)
		return value, filepath.IsAbs(value)
	}
	if dir, ok := absolute("XDG_STATE_HOME"); ok {
		return filepath.Join(dir, "waybill"), nil
	}
	if goos == "windows" {
		if dir, ok := absolute("LOCALAPPDATA"); ok {
			return filepath.Join(dir, "waybill"), nil
		}
		if dir, ok := absolute("USERPROFILE"); ok {
			return filepath.Join(dir, "AppData", "Local", "waybill"), nil
		}
		return "", errors.New("no place for state: set LOCALAPPDATA or XDG_STATE_HOME to an absolute path")
	}
	home, ok := absolute("HOME")
	if !ok {
		return "", errors.New("no place for state: set HOME or XDG_STATE_HOME to an absolute path")
	}
	return filepath.Join(home, ".local", "state", "waybill"), nil
}

// EnsureStateDir creates the state folder and its base, private to this user, and repairs wider modes. It returns
// ErrUnsafeStateDir if either is a link or belongs to another user. On Windows only links are refused, because the
// profile folder is private.
func (w Workspace) EnsureStateDir() error {
	if w.StateDir == "" {
		return errors.New("make state folder: the workspace was resolved without a StateBase")
	}
	for _, dir := range []string{filepath.Dir(w.StateDir), w.StateDir} {
		err := MakePrivate(dir)
		if errors.Is(err, ErrUnsafeStateDir) {
			return fmt.Errorf("make state folder: %w, or set XDG_STATE_HOME to another place", err)
		}
		if err != nil {
			return fmt.Errorf("make state folder: %w", err)
		}
	}
	return nil
}

// MakePrivate creates one folder and its missing parents, with the modes and refusals of EnsureStateDir.
func MakePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return secure(dir)
}

// unsafeDir returns an ErrUnsafeStateDir with advice for a person.
func unsafeDir(dir, why string) error {
	return fmt.Errorf("%w: %s %s; remove it", ErrUnsafeStateDir, dir, why)
}

// refuseOther refuses dir unless it is a real folder.
func refuseOther(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
		return unsafeDir(dir, "is a link")
	case !info.IsDir():
		return unsafeDir(dir, "is not a folder")
	}
	return nil
}
