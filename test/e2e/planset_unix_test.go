//go:build linux || darwin

package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The folders above a plan speak for its dialect, from wherever it is named.
func TestThePathOfAPlanSpeaksForItWhereverItIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(w.workspace, ".spec-workflow", "specs", "x")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte("- [ ] 1. a\n- [~] 2. b\n"), 0o600))
	var all []string
	for from, name := range map[string]string{
		w.workspace: ".spec-workflow/specs/x/tasks.md", dir: "tasks.md", filepath.Dir(dir): "x/tasks.md",
		os.TempDir(): filepath.Join(dir, "tasks.md"),
	} {
		cmd := w.command(t, "plan", name, "--json")
		cmd.Dir = from
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), `"dialect":"spec-workflow"`, "from %s", from)
		all = append(all, string(out))
	}
	for _, one := range all {
		require.Equal(t, all[0], one)
	}
}
