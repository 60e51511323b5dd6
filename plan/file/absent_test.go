package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

func TestAbsentIsOnlyWhatNothingHasTheNameOf(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "specs", "rain"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "specs", "tasks.md"), nil, 0o644))
	root, err := planfile.Open(dir, planfile.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	for rel, want := range map[string]bool{
		"specs/tasks.md": false, "specs/rain": false, "specs/sun.md": true, "sun/tasks.md": true, "./specs//sun.md": true,
		"../sun.md": false, "": false, "a\x00b": false,
	} {
		require.Equal(t, want, root.Absent(rel), "%q", rel)
	}
}
