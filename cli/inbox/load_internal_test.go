package inbox

// These tests are inside because what is read again, and what counts as seen, have no other front than time.

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/program"
	"waybill/engine/inbox"
)

// newLoader returns a loader of the state folders below a new base.
func newLoader(t *testing.T) *loader {
	t.Helper()
	return &loader{
		commands: commands{&program.App{}}, base: t.TempDir(), seen: map[string]snapshot{}, since: func(string) int64 { return 0 },
	}
}

// remember makes a state folder for the workspace at root.
func (l *loader) remember(t *testing.T, id, root string) (stateDir string) {
	t.Helper()
	dir := filepath.Join(l.base, id)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "workspace.json"), []byte(`{"root":"`+root+`"}`), 0o600))
	return dir
}

// A state folder without a store has nothing that waits. Any other fault is told, because something may wait behind it.
func TestDamagedWorkspaceIsNotNothing(t *testing.T) {
	l := newLoader(t)
	l.remember(t, "unused", "/w/unused")
	store := filepath.Join(l.remember(t, "circle", "/w/circle"), "store.db")
	if err := os.Symlink(store, store); err != nil {
		t.Skip(err)
	}
	for _, id := range []string{"nameless", "nameless-unused"} {
		require.NoError(t, os.WriteFile(filepath.Join(l.remember(t, id, ""), "workspace.json"), []byte("{"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(l.base, "nameless", "store.db"), nil, 0o600))
	require.NoError(t, l.load(t.Context()))
	require.Equal(t, 2, l.inbox.Waiting())
	nameless, circle := l.inbox.Entries[0], l.inbox.Entries[1]
	require.Equal(t, inbox.Unreadable, nameless.Kind)
	require.Equal(t, filepath.Join(l.base, "nameless"), nameless.Title)
	require.Contains(t, nameless.Text, "waybill status in the right folder records it anew")
	require.Empty(t, nameless.Next)
	require.Equal(t, inbox.Unreadable, circle.Kind)
	require.Equal(t, "/w/circle", circle.Title)
	require.Equal(t, []string{"doctor"}, circle.Next)
}
