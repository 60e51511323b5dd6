package file_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// plant makes the files of a workspace.
func plant(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), name)
	}
}

// Every place that a plan may come to is named before it is there, so that somebody can watch it.
func TestSearchNamesThePlacesOfWhatIsToCome(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "specs/001-a/spec.md", "openspec/changes/archive/b/tasks.md", "docs/plans/notes.md")
	found, err := open(t, dir, planfile.Options{Folders: true}).Search(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Equal(t, []string{"docs/plans/notes.md"}, found.Plans)
	require.Subset(t, found.Spots, []string{"tasks.md", "specs", "specs/001-a/tasks.md", "docs/plans", "docs/plans/notes.md", "backlog/tasks", ".kiro/specs", "openspec/changes"})
	for _, spot := range found.Spots {
		require.NotContains(t, spot, "archive")
		require.NotEqual(t, ".", spot)
	}
}

// A place with other files besides plans is told from one that has nothing else.
func TestMixedPlaces(t *testing.T) {
	for name, want := range map[string]bool{
		"docs/plans/a.md": true, ".claude/epics/a": true, ".planning/phases/01-a": true,
		"tasks.md": false, "specs/a/tasks.md": false, "backlog/tasks": false,
	} {
		require.Equal(t, want, planfile.Mixed(name), name)
	}
}
