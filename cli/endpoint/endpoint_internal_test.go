package endpoint

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/cli/backend"
	"waybill/engine/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// These tests are inside because port files are the affair of this package alone.

// listens returns the address of a port at which somebody listens until the test ends or it is closed.
func listens(t *testing.T) (url string, listener net.Listener) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String(), listener
}

// leave puts the file of a process into a folder.
func leave(t *testing.T, folder string, door Endpoint) (path string) {
	t.Helper()
	path = filepath.Join(folder, ownFileName(door.PID))
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
	stale := leave(t, folder, Endpoint{URL: closed, Token: "a", PID: os.Getppid()})
	there := leave(t, folder, Endpoint{URL: open, Token: "b", PID: os.Getpid()})
	require.NoError(t, os.WriteFile(filepath.Join(folder, FileName), (&Endpoint{URL: closed, Token: "a", PID: os.Getppid()}).text(), 0o600))

	require.NoError(t, settle(folder))
	require.NoFileExists(t, stale)
	require.FileExists(t, there)
	named := Read(filepath.Join(folder, FileName))
	require.NotNil(t, named)
	require.Equal(t, open, named.URL)
}

// A process that leaves took away whatever lay under its id, also what one in another container had put there.
func TestAPortFileOfAnotherProcessWithOurIdStays(t *testing.T) {
	ws := workspace.Workspace{Root: t.TempDir(), StateDir: t.TempDir()}
	url, _ := listens(t)
	ours := &OwnFile{Backend: backend.New(backend.Options{Logger: slog.New(slog.DiscardHandler)}), Door: Endpoint{URL: url, Token: "a", PID: os.Getpid()}}
	ours.Put(ws)
	require.FileExists(t, ours.Says().path)
	theirs := leave(t, ws.StateDir, Endpoint{URL: url, Token: "b", PID: os.Getpid()})
	require.Equal(t, ours.Says().path, theirs)
	ours.Remove()
	door := Read(theirs)
	require.NotNil(t, door)
	require.Equal(t, "b", door.Token)
	named := Read(filepath.Join(ws.StateDir, FileName))
	require.NotNil(t, named)
	require.Equal(t, "b", named.Token, "http.json names who is there")
}

// TestFaultW5_SignpostsOfOthersStay: whatever else is in the folder of a store is not ours to remove.
func TestFaultW5_SignpostsOfOthersStay(t *testing.T) {
	folder := t.TempDir()
	names := []string{"waybill-open-1-.html", "waybill-open-x-2.html", "waybill-open-1-2.html.bak", "waybill-open-01-2.html", "waybill-open--1-02.html", "index.html", "waybill-2026-11.html"}
	for _, name := range append(names, "waybill-open-1-2.html") {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	removeRedirects(folder, func(int, time.Time) bool { return true })
	for _, name := range names {
		require.FileExists(t, filepath.Join(folder, name))
	}
	require.NoFileExists(t, filepath.Join(folder, "waybill-open-1-2.html"))
}

// TestFileURL: a path is given to a browser as an address.
func TestFileURL(t *testing.T) {
	require.Equal(t, "file:///home/me/a%20b/%23.html", FileURL("/home/me/a b/#.html"))
	require.Equal(t, "file:///C:/x.html", FileURL("C:/x.html"))
}

// TestFaultW6_PortFilesOfOthersAreNotBelieved: in a folder that others may write to, a file of theirs would lead a person
// to a page of theirs.
func TestFaultW6_PortFilesOfOthersAreNotBelieved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there a file has no mode that says who may write it")
	}
	folder, pid := t.TempDir(), os.Getpid()
	path := filepath.Join(folder, ownFileName(pid))
	url, _ := listens(t)
	text := (&Endpoint{URL: url, Token: "t", PID: pid}).text()
	require.NoError(t, os.WriteFile(path, text, 0o600))
	require.Len(t, running(folder), 1)
	require.NoError(t, os.Chmod(path, 0o604))
	require.Empty(t, running(folder))
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.Rename(path, filepath.Join(folder, "other")))
	require.NoError(t, os.Symlink("other", path))
	require.Empty(t, running(folder))
}

// TestBornIsNotLater: our own process began before now, and not before the machine did.
func TestBornIsNotLater(t *testing.T) {
	began, known := Born(os.Getpid())
	if !known {
		t.Skip("it is not known here when a process began")
	}
	require.True(t, began.Before(time.Now().Add(10*time.Second)), "%v", began)
	first, known := Born(1)
	require.True(t, known)
	require.False(t, began.Before(first.Add(-10*time.Second)), "%v is before %v", began, first)
	_, known = Born(1<<31 - 2)
	require.False(t, known)
}
