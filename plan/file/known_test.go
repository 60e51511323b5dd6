package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// What was a plan is listed whatever lies there now; what was none there is not.
func TestSearchListsAKnownPlanThatIsNoFileAnyMore(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"tasks.md", "specs/a/tasks.md", "specs/.hidden/tasks.md", "openspec/changes/archive/tasks.md", "deep/er/tasks.md", "backlog/tasks/x",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755))
	}
	write(t, filepath.Join(dir, "specs", "b", "tasks.md"), planText)
	r := open(t, dir, planfile.Options{Folders: true})
	found, err := r.Search(planfile.DefaultPatterns(),
		"tasks.md", "specs/a/tasks.md", "specs/b/tasks.md", "backlog/tasks", "docs/tasks.md", // the last is not there
		"specs/.hidden/tasks.md", "openspec/changes/archive/tasks.md", "deep/er/tasks.md", // no pattern leads to these
	)
	require.NoError(t, err)
	require.Equal(t, []string{"backlog/tasks", "specs/a/tasks.md", "specs/b/tasks.md", "tasks.md"}, found.Plans)
	found, err = r.Search(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Equal(t, []string{"specs/b/tasks.md"}, found.Plans, "nobody knows the others")
}

// A known name that is one more of a file which was found makes no second plan of it.
func TestSearchListsAKnownPlanOnceWhateverItIsCalled(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), planText)
	symlink(t, "../tasks.md", filepath.Join(dir, "docs", "tasks.md"))
	write(t, filepath.Join(dir, ".taskmaster", "tasks", "tasks.json"), "{}")
	r := open(t, dir, planfile.Options{Folders: true})
	found, err := r.Search(planfile.DefaultPatterns(), "docs/tasks.md", ".taskmaster/tasks", "tasks.md")
	require.NoError(t, err)
	require.Equal(t, []string{".taskmaster/tasks/tasks.json", "tasks.md"}, found.Plans)
}
