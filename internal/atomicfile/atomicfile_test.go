package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"waybill/internal/atomicfile"

	"github.com/stretchr/testify/require"
)

// TestKilledExportLeftHalfAFile: while a file is written, nothing is there under its name, and after an error nothing at all.
func TestKilledExportLeftHalfAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	broken := errors.New("the disk is full")
	write := func(end error) func(f *os.File) error {
		return func(f *os.File) error {
			_, err := f.WriteString("half")
			require.NoFileExists(t, path)
			return errors.Join(err, end)
		}
	}
	require.ErrorIs(t, atomicfile.Create(path, write(broken)), broken)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, atomicfile.Create(path, write(nil)))
	left, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// TestFilesAreNotReplaced: Create replaces no file, and none that appears during the writing.
func TestFilesAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	err := atomicfile.Create(path, func(*os.File) error { return os.WriteFile(path, []byte("theirs"), 0o600) })
	require.ErrorIs(t, err, fs.ErrExist)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
	require.ErrorIs(t, atomicfile.Create(path, func(*os.File) error { return nil }), fs.ErrExist)
	require.ErrorIs(t, atomicfile.Create(filepath.Join(dir, "none", "x"), func(*os.File) error { return nil }), fs.ErrNotExist)
}

func TestReplacedFileIsOldOrNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "http.json")
	for _, text := range []string{"old", "new"} {
		require.NoError(t, atomicfile.Replace(path, []byte(text)))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.Error(t, atomicfile.Replace(filepath.Join(dir, "folder"), []byte("text")))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2, "an error leaves no file behind")
}
