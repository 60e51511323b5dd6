package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine/workspace"
)

func TestStateBase(t *testing.T) {
	abs := func(names ...string) string {
		return filepath.Join(append([]string{t.TempDir()}, names...)...)
	}
	xdg, home, local, profile := abs("xdg"), abs("home"), abs("local"), abs("profile")
	for _, c := range []struct {
		name, goos string
		env        map[string]string
		want       string
	}{
		{"linux", "linux", map[string]string{"HOME": home}, filepath.Join(home, ".local", "state", "waybill")},
		{"freebsd", "freebsd", map[string]string{"HOME": home}, filepath.Join(home, ".local", "state", "waybill")},
		{"xdg", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": xdg}, filepath.Join(xdg, "waybill")},
		{"relative xdg is ignored", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": "state"}, filepath.Join(home, ".local", "state", "waybill")},
		{"mac", "darwin", map[string]string{"HOME": home}, filepath.Join(home, ".local", "state", "waybill")},
		{"mac with xdg", "darwin", map[string]string{"HOME": home, "XDG_STATE_HOME": xdg}, filepath.Join(xdg, "waybill")},
		{"windows", "windows", map[string]string{"LOCALAPPDATA": local, "USERPROFILE": profile}, filepath.Join(local, "waybill")},
		{"windows profile", "windows", map[string]string{"USERPROFILE": profile}, filepath.Join(profile, "AppData", "Local", "waybill")},
		{"windows nothing", "windows", map[string]string{"HOME": home}, ""},
		{"nothing", "linux", nil, ""},
		{"relative home", "linux", map[string]string{"HOME": "me"}, ""},
	} {
		got, err := workspace.StateBase(func(name string) string { return c.env[name] }, c.goos)
		require.Equal(t, c.want, got, c.name)
		if c.want == "" {
			require.ErrorContains(t, err, "set ", c.name)
		} else {
			require.NoError(t, err, c.name)
		}
	}
}

func stateOf(t *testing.T) workspace.Workspace {
	t.Helper()
	base := t.TempDir()
	dir := project(t, filepath.Join(base, "ws"))
	w, err := workspace.Resolve(workspace.Sources{Flag: dir, StateBase: filepath.Join(base, "a", "b", "waybill")})
	require.NoError(t, err)
	return w
}

func mode(t *testing.T, dir string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(dir)
	require.NoError(t, err)
	require.True(t, info.IsDir())
	return info.Mode().Perm()
}

func TestEnsureStateDirMakesItAndKeepsIt(t *testing.T) {
	w := stateOf(t)
	for range 2 {
		require.NoError(t, w.EnsureStateDir())
		if runtime.GOOS != "windows" {
			require.EqualValues(t, 0o700, mode(t, w.StateDir))
			require.EqualValues(t, 0o700, mode(t, filepath.Dir(w.StateDir)))
		}
	}
}

// A planted link or file in place of the state folder is refused, and the target of the link stays unchanged.
func TestPlantedStateDirIsRefused(t *testing.T) {
	for _, level := range []string{"folder", "base"} {
		w := stateOf(t)
		planted := w.StateDir
		if level == "base" {
			planted = filepath.Dir(w.StateDir)
		}
		target := filepath.Join(t.TempDir(), "elsewhere")
		require.NoError(t, os.Mkdir(target, 0o755))
		require.NoError(t, os.MkdirAll(filepath.Dir(planted), 0o700))
		symlink(t, target, planted)
		err := w.EnsureStateDir()
		require.ErrorIs(t, err, workspace.ErrUnsafeStateDir, level)
		require.ErrorContains(t, err, planted)
		require.ErrorContains(t, err, "link")
		entries, err := os.ReadDir(target)
		require.NoError(t, err)
		require.Empty(t, entries)
		if runtime.GOOS != "windows" {
			require.EqualValues(t, 0o755, mode(t, target))
		}

		require.NoError(t, os.Remove(planted))
		require.NoError(t, os.WriteFile(planted, nil, 0o600))
		err = w.EnsureStateDir()
		require.ErrorIs(t, err, workspace.ErrUnsafeStateDir, level)
		require.ErrorContains(t, err, "not a folder")
	}
}

// A state folder of another user is refused.
func TestForeignStateDirIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a folder that belongs to somebody else")
	}
	for _, level := range []string{"folder", "base"} {
		w := stateOf(t)
		require.NoError(t, w.EnsureStateDir())
		foreign := w.StateDir
		if level == "base" {
			foreign = filepath.Dir(w.StateDir)
		}
		require.NoError(t, os.Chown(foreign, 65534, 65534))
		require.NoError(t, os.Chmod(foreign, 0o777))
		err := w.EnsureStateDir()
		require.ErrorIs(t, err, workspace.ErrUnsafeStateDir, level)
		require.ErrorContains(t, err, "belongs to user 65534")
		require.EqualValues(t, 0o777, mode(t, foreign), "nothing of theirs is changed")
	}
}

// A state folder that other users can enter is made private.
func TestWideStateDirIsRepaired(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows protects the folder by its access list")
	}
	w := stateOf(t)
	require.NoError(t, w.EnsureStateDir())
	for _, wide := range []os.FileMode{0o777, 0o755, 0o710, 0o500} {
		for _, dir := range []string{w.StateDir, filepath.Dir(w.StateDir)} {
			require.NoError(t, os.Chmod(dir, wide))
		}
		require.NoError(t, w.EnsureStateDir())
		require.EqualValues(t, 0o700, mode(t, w.StateDir))
		require.EqualValues(t, 0o700, mode(t, filepath.Dir(w.StateDir)))
	}
	_, err := w.Remember()
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(w.StateDir, "workspace.json"))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestFoldersOfSyncPrograms(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/me/Dropbox/p":                                     true,
		"/home/me/Dropbox (Personal)/p":                          true,
		`C:\Users\me\OneDrive\p`:                                 true,
		`C:\Users\me\OneDrive - Example Ltd\p`:                   true,
		"/Users/me/Library/Mobile Documents/com~apple~CloudDocs": true,
		"/Users/me/Library/CloudStorage/GoogleDrive-me/p":        true,
		`C:\Users\me\iCloudDrive\p`:                              true,
		"/home/me/src/dropbox/p":                                 false,
		"/home/me/src/onedrive-client":                           false,
		"/home/me/CloudStorage/p":                                false,
		"/home/me/.local/state/waybill":                          false,
	} {
		require.Equal(t, want, workspace.SyncedName(path), path)
	}
	kind, remote := workspace.RemoteFS(filepath.Join(t.TempDir(), "Dropbox", "not", "made", "yet"))
	require.True(t, remote)
	require.Equal(t, workspace.Synced, kind)
}
