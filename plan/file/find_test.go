package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
	"waybill/plan/places"
)

// One file with several names is one plan.
func TestFaultF17_FindListsEachFileOnce(t *testing.T) {
	dir, _ := planned(t, planText)
	// On a file system that ignores case this name exists already.
	if err := os.Link(filepath.Join(dir, "tasks.md"), filepath.Join(dir, "TASKS.md")); err != nil {
		require.ErrorIs(t, err, os.ErrExist)
		got, err := open(t, dir, planfile.Options{}).Find(places.Patterns())
		require.NoError(t, err)
		require.Equal(t, []string{"tasks.md"}, got)
		return
	}
	symlink(t, "../tasks.md", filepath.Join(dir, "docs", "tasks.md"))
	got, err := open(t, dir, planfile.Options{}).Find([]string{"docs/tasks.md", "tasks.md", "TASKS.md", "*.md"})
	require.NoError(t, err)
	require.Equal(t, []string{"TASKS.md"}, got)
}

func TestFindReportsAFolderThatIsTooFull(t *testing.T) {
	dir, _ := planned(t, planText)
	write(t, filepath.Join(dir, "d0", "tasks.md"), planText)
	for i := range 99 {
		require.NoError(t, os.Mkdir(filepath.Join(dir, fmt.Sprint("d", i+1)), 0o755))
	}
	r := open(t, dir, planfile.Options{})
	entries, files := r.Limits()
	require.Equal(t, 10_000, entries)
	r.Limit(101, files)
	got := found(t, r, []string{"*/tasks.md", "tasks.md"})
	require.Equal(t, []string{"d0/tasks.md", "tasks.md"}, got, "as many as the limit are searched")
	r.Limit(100, files)
	got, err := r.Find([]string{"*/tasks.md", "tasks.md"})
	require.ErrorContains(t, err, "more than 100 entries")
	require.Contains(t, got, "tasks.md", "what lies elsewhere is found")
}
