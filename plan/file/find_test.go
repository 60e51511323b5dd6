package file_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

func TestFindDefaultPlaces(t *testing.T) {
	dir := t.TempDir()
	want := []string{
		".kiro/specs/login/tasks.md",
		".spec-context/specs/a/tasks.md",
		".spec-workflow/specs/b/tasks.md",
		"docs/tasks.md",
		"specs/001-first/tasks.md",
		"specs/002-second/tasks.md",
		"tasks.md",
	}
	other := []string{
		"deep/er/tasks.md",
		"node_modules/x/tasks.md",
		"specs/.hidden/tasks.md",
		"specs/node_modules/tasks.md",
		"specs/a/b/tasks.md",
		"specs/tasks.md",
		"readme.md",
	}
	for _, name := range append(other, want...) {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), name)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "specs", "003-folder", "tasks.md"), 0o755))
	got, err := open(t, dir, planfile.Options{}).Find(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestFindInAnEmptyWorkspace(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "specs"), 0o755))
	write(t, filepath.Join(dir, "docs"), "a file where a folder is expected")
	got, err := open(t, dir, planfile.Options{}).Find(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Empty(t, got)
}

// One file with several names is one plan.
func TestFaultF17_FindListsEachFileOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), planText)
	// On a file system that ignores case this name exists already.
	if err := os.Link(filepath.Join(dir, "tasks.md"), filepath.Join(dir, "TASKS.md")); err != nil {
		require.ErrorIs(t, err, os.ErrExist)
		got, err := open(t, dir, planfile.Options{}).Find(planfile.DefaultPatterns())
		require.NoError(t, err)
		require.Equal(t, []string{"tasks.md"}, got)
		return
	}
	symlink(t, "../tasks.md", filepath.Join(dir, "docs", "tasks.md"))
	got, err := open(t, dir, planfile.Options{}).Find([]string{"docs/tasks.md", "tasks.md", "TASKS.md", "*.md"})
	require.NoError(t, err)
	require.Equal(t, []string{"TASKS.md"}, got)
}

// Links inside the workspace are walked; links to the outside are not, but a plan
// that is such a link is listed, for Read to explain.
func TestFaultF15_FindIsSafeWithLinks(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	write(t, filepath.Join(base, "outside", "x", "tasks.md"), "secret")
	write(t, filepath.Join(dir, "real", "in", "tasks.md"), planText)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	symlink(t, filepath.Join(dir, "real"), filepath.Join(dir, "specs"))
	symlink(t, "../outside", filepath.Join(dir, ".kiro", "specs"))
	symlink(t, "../../outside/x/tasks.md", filepath.Join(dir, "docs", "tasks.md"))
	symlink(t, "folder", filepath.Join(dir, "tasks.md"))

	r := open(t, dir, planfile.Options{})
	got, err := r.Find(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Equal(t, []string{"docs/tasks.md", "specs/in/tasks.md"}, got)
	_, err = r.Read("docs/tasks.md", nil)
	require.ErrorIs(t, err, planfile.OutsideWorkspace)
}

func TestFindReportsAFolderThatIsTooFull(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), planText)
	write(t, filepath.Join(dir, "d0", "tasks.md"), planText)
	for i := range 99 {
		require.NoError(t, os.Mkdir(filepath.Join(dir, fmt.Sprint("d", i+1)), 0o755))
	}
	r := open(t, dir, planfile.Options{})
	entries, files := r.Limits()
	require.Equal(t, 10_000, entries)
	r.Limit(101, files)
	got, err := r.Find([]string{"*/tasks.md", "tasks.md"})
	require.NoError(t, err)
	require.Equal(t, []string{"d0/tasks.md", "tasks.md"}, got, "as many as the limit are searched")
	r.Limit(100, files)
	got, err = r.Find([]string{"*/tasks.md", "tasks.md"})
	require.ErrorContains(t, err, "more than 100 entries")
	require.Contains(t, got, "tasks.md", "what lies elsewhere is found")
}

func TestFindRefusesBadPatterns(t *testing.T) {
	r := open(t, t.TempDir(), planfile.Options{})
	_, err := r.Find([]string{"specs/["})
	require.ErrorIs(t, err, path.ErrBadPattern)
	_, err = r.Find([]string{"**/tasks.md"})
	require.ErrorContains(t, err, "**")
	_, err = r.Find([]string{"../*/tasks.md"})
	require.ErrorIs(t, err, planfile.OutsideWorkspace)
}
