package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine/workspace"
)

// A record that cannot be read is told, because the state beside it may have what waits for a person.
func TestDamagedRecordHidesNoStateFolder(t *testing.T) {
	base := t.TempDir()
	for id, record := range map[string]string{"a": `{"root":"/w"}`, "b": "{damaged", "c": `{}`} {
		require.NoError(t, os.Mkdir(filepath.Join(base, id), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(base, id, "workspace.json"), []byte(record), 0o600))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(base, "d", "workspace.json"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(base, "e"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(base, "inbox.json"), nil, 0o600))
	all, err := workspace.Every(base)
	require.NoError(t, err)
	var sound, damaged []string
	for _, k := range all {
		if k.Err == nil {
			sound = append(sound, k.Root)
			continue
		}
		require.ErrorContains(t, k.Err, filepath.Join(k.StateDir, "workspace.json"))
		damaged = append(damaged, k.ID)
	}
	require.Equal(t, []string{"/w"}, sound)
	require.Equal(t, []string{"b", "c", "d"}, damaged)
}
