package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// TestFaultR30_VersionsOfOtherProcesses: who has the store open is known to the others with its version,
// until it closes it or dies.
func TestFaultR30_VersionsOfOtherProcesses(t *testing.T) {
	path := path(t)
	files := func() int {
		names, err := filepath.Glob(path + ".peer-*")
		require.NoError(t, err)
		return len(names)
	}
	s := open(t, sqlite.Options{Path: path, Version: "2.0 new"})
	require.Empty(t, s.Status(t.Context()).Peers)

	other := open(t, sqlite.Options{Path: path, Version: "1.0"})
	require.Equal(t, []store.Peer{{PID: os.Getpid(), Version: "1.0"}}, s.Status(t.Context()).Peers)
	require.Equal(t, []store.Peer{{PID: os.Getpid(), Version: "2.0?new"}}, other.Status(t.Context()).Peers)
	require.NoError(t, other.Close())
	require.Empty(t, s.Status(t.Context()).Peers)
	require.Equal(t, 1, files())

	c := stepper(t, path)
	require.Equal(t, "1", c.ask(t, "update"))
	require.Equal(t, []store.Peer{{PID: c.Process.Pid, Version: "unknown"}}, s.Status(t.Context()).Peers)
	c.kill(t)
	require.Empty(t, s.Status(t.Context()).Peers)
	require.Equal(t, 1, files(), "what the dead one left is removed")
}

// TestForeignPeerFile: a file that says nothing is passed over.
func TestForeignPeerFile(t *testing.T) {
	path := path(t)
	require.NoError(t, os.WriteFile(path+".peer-1", []byte("12345\n"), 0o600))
	require.NoError(t, os.Mkdir(path+".peer-2", 0o700))
	s := open(t, sqlite.Options{Path: path})
	require.Empty(t, s.Status(t.Context()).Peers)
}
