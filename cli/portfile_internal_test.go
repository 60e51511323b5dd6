package cli

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine/workspace"
)

// These tests are inside because port files are the affair of this package alone.

// listens gives the address of a port at which somebody listens until the test ends or it is closed.
func listens(t *testing.T) (url string, listener net.Listener) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String(), listener
}

// leave puts the file of a process into a folder.
func leave(t *testing.T, folder string, door knock) (path string) {
	t.Helper()
	path = filepath.Join(folder, ownPortFile(door.PID))
	require.NoError(t, os.WriteFile(path, door.text(), 0o600))
	return path
}

// The file of a process that was killed was believed as soon as another process had its id.
func TestAPortFileWhoseProcessIdIsAnothersByNowIsNoDoor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there the id decides")
	}
	folder := t.TempDir()
	open, _ := listens(t)
	closed, listener := listens(t)
	require.NoError(t, listener.Close())
	stale := leave(t, folder, knock{URL: closed, Token: "a", PID: os.Getppid()})
	there := leave(t, folder, knock{URL: open, Token: "b", PID: os.Getpid()})
	require.NoError(t, os.WriteFile(filepath.Join(folder, portFileName), (&knock{URL: closed, Token: "a", PID: os.Getppid()}).text(), 0o600))

	require.NoError(t, settle(folder))
	require.NoFileExists(t, stale)
	require.FileExists(t, there)
	named := readDoor(filepath.Join(folder, portFileName))
	require.NotNil(t, named)
	require.Equal(t, open, named.URL)
}

// A process that leaves took away whatever lay under its id, also what one in another container had put there.
func TestAPortFileOfAnotherProcessWithOurIdStays(t *testing.T) {
	ws := workspace.Workspace{Root: t.TempDir(), StateDir: t.TempDir()}
	url, _ := listens(t)
	ours := &portFile{backend: &backend{logger: slog.New(slog.DiscardHandler)}, door: knock{URL: url, Token: "a", PID: os.Getpid()}}
	ours.put(ws)
	require.FileExists(t, ours.says().path)
	theirs := leave(t, ws.StateDir, knock{URL: url, Token: "b", PID: os.Getpid()})
	require.Equal(t, ours.says().path, theirs)
	ours.remove()
	door := readDoor(theirs)
	require.NotNil(t, door)
	require.Equal(t, "b", door.Token)
	named := readDoor(filepath.Join(ws.StateDir, portFileName))
	require.NotNil(t, named)
	require.Equal(t, "b", named.Token, "http.json names who is there")
}
