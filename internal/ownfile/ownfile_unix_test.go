//go:build unix

package ownfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/ownfile"
)

func TestOpenRefusesWhatOthersCouldHavePlanted(t *testing.T) {
	for want, plant := range map[string]func(target, path string) error{
		"is a symbolic link":          os.Symlink,
		"has a second name elsewhere": os.Link,
		"is not a regular file":       func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
		"belongs to user 65534": func(target, path string) error {
			if os.Geteuid() != 0 {
				return os.ErrPermission
			}
			_ = os.Rename(target, path)
			return os.Chown(path, 65534, 65534)
		},
	} {
		t.Run(want, func(t *testing.T) {
			dir := t.TempDir()
			target, path := filepath.Join(dir, "target"), filepath.Join(dir, "path")
			require.NoError(t, os.WriteFile(target, []byte("text"), 0o600))
			if err := plant(target, path); errors.Is(err, os.ErrPermission) {
				t.Skip("giving a file to another user takes root")
			}
			_, err := ownfile.Open(path, os.O_RDWR|os.O_CREATE)
			var refusal *ownfile.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Contains(t, refusal.What, path+" "+want)
			require.Contains(t, refusal.Mend, "rm "+path)
			require.ErrorAs(t, ownfile.Check(path), &refusal)
		})
	}
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "path")
	require.ErrorIs(t, ownfile.Check(path), fs.ErrNotExist)
	_, err := ownfile.Open(path, os.O_RDWR)
	require.ErrorIs(t, err, fs.ErrNotExist)
	f, err := ownfile.Open(path, os.O_RDWR|os.O_CREATE)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode())
	require.NoError(t, f.Close())
	require.NoError(t, ownfile.Check(path))
}
