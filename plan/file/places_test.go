package file_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
	"waybill/plan/places"
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
	found, err := open(t, dir, planfile.Options{Folders: true}).Search(places.Patterns())
	require.NoError(t, err)
	require.Equal(t, []string{"docs/plans/notes.md"}, found.Plans)
	require.Subset(t, found.Spots, []string{"tasks.md", "specs", "specs/001-a/tasks.md", "docs/plans", "docs/plans/notes.md", "backlog/tasks", ".kiro/specs", "openspec/changes"})
	for _, spot := range found.Spots {
		require.NotContains(t, spot, "archive")
		require.NotEqual(t, ".", spot)
	}
}
