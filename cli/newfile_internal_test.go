package cli

// These tests are inside: a command ends before anybody could look at what it was writing.

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

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
	require.ErrorIs(t, newFile(path, write(broken)), broken)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, newFile(path, write(nil)))
	left, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// TestFilesAreNotReplaced: not even one that was made while ours was written.
func TestFilesAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	err := newFile(path, func(*os.File) error { return os.WriteFile(path, []byte("theirs"), 0o600) })
	require.ErrorContains(t, err, "is there already and is not replaced")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
	require.ErrorContains(t, newFile(path, func(*os.File) error { return nil }), "is there already")
	require.ErrorIs(t, newFile(filepath.Join(dir, "none", "x"), func(*os.File) error { return nil }), fs.ErrNotExist)
}
