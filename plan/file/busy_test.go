package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// Where a program that has a file open keeps others out, as on Windows, an editor or a virus scanner does
// so for a moment. The file is tried again, and nobody hears of it.
func TestFaultF25_SharingViolationIsRetried(t *testing.T) {
	for _, path := range []string{"tasks.md", "backlog/tasks"} {
		t.Run(path, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, planfile.Options{Folders: true})
			held := filepath.Join(dir, "tasks.md")
			if path != "tasks.md" {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
				held = filepath.Join(dir, path, "task-1.md")
				require.NoError(t, os.Symlink("nowhere", held)) // it is listed, and not to be had
			}
			tries := 0
			r.BusyIf(func(err error) bool {
				if err == nil {
					return false
				}
				require.ErrorIs(t, err, fs.ErrNotExist)
				if tries++; tries == 2 { // the other program lets go of it
					_ = os.Remove(held)
					require.NoError(t, os.WriteFile(held, []byte("- [ ] 1. a\n"), 0o600))
				}
				return true
			})
			file := readOf(t, r, path, nil)
			require.Contains(t, file.Text, "- [ ] 1. a\n")
			require.Equal(t, 2, tries)
		})
	}
}

// One that never lets go is said to be unreadable.
func TestFaultF25_AFileThatStaysHeldIsReported(t *testing.T) {
	r := open(t, t.TempDir(), planfile.Options{})
	tries := 0
	r.BusyIf(func(err error) bool { tries++; return err != nil })
	_, err := r.Read("tasks.md", nil)
	require.ErrorIs(t, err, planfile.Missing)
	require.Greater(t, tries, 1)
	require.Less(t, tries, 20)
}
