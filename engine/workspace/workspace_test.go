package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"waybill/engine/workspace"
)

// project creates a folder with the named entries and returns its canonical path.
func project(t testing.TB, dir string, entries ...string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, name := range entries {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return real
}

func symlink(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

func uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + strings.NewReplacer("%", "%25", " ", "%20", ":", "%3A").Replace(path)
}

func TestResolveAsksTheSourcesInOrder(t *testing.T) {
	base := t.TempDir()
	flag := project(t, filepath.Join(base, "flag"))
	env := project(t, filepath.Join(base, "env"))
	folder := project(t, filepath.Join(base, "my folder 100%"))
	claude := project(t, filepath.Join(base, "claude"))
	cwd := project(t, filepath.Join(base, "cwd"), "tasks.md")
	home := project(t, filepath.Join(base, "home"))

	s := workspace.Sources{
		Flag: flag, EnvWorkspace: env, InitFolder: uri(folder), ClaudeProjectDir: claude,
		Cwd: cwd, Home: home, StateBase: filepath.Join(base, "state"),
	}
	check := func(root, by string) {
		t.Helper()
		w, err := workspace.Resolve(s)
		require.NoError(t, err)
		require.Equal(t, root, w.Root)
		require.Equal(t, by, w.ResolvedBy)
		require.Regexp(t, "^[0-9a-f]{24}$", w.ID)
		require.Equal(t, filepath.Join(base, "state", w.ID), w.StateDir)
		require.NotZero(t, w.Ino)
	}
	check(flag, "--workspace")
	s.Flag = ""
	check(env, "WAYBILL_WORKSPACE")
	s.EnvWorkspace = ""
	check(folder, "initialize")
	s.InitFolder = folder
	check(folder, "initialize")
	s.InitFolder = ""
	check(claude, "CLAUDE_PROJECT_DIR")
	s.ClaudeProjectDir = ""
	check(cwd, "cwd")
	s.StateBase = ""
	w, err := workspace.Resolve(s)
	require.NoError(t, err)
	require.Empty(t, w.StateDir)
	require.Error(t, w.EnsureStateDir())
}

func TestResolveFindsTheNearestProjectAboveCwd(t *testing.T) {
	for _, marker := range []string{"tasks.md", "TASKS.md", ".git", ".kiro", ".spec-context", ".spec-workflow"} {
		base := t.TempDir()
		outer := project(t, filepath.Join(base, "outer"), ".git")
		inner := project(t, filepath.Join(outer, "a", "inner"), marker)
		deep := project(t, filepath.Join(inner, "x", "y"))
		for cwd, want := range map[string]string{deep: inner, inner: inner, filepath.Dir(inner): outer} {
			w, err := workspace.Resolve(workspace.Sources{Cwd: cwd})
			require.NoError(t, err)
			require.Equal(t, want, w.Root, marker)
		}
	}
}

func unresolved(t *testing.T, s workspace.Sources) *workspace.UnresolvedError {
	t.Helper()
	_, err := workspace.Resolve(s)
	e, ok := errors.AsType[*workspace.UnresolvedError](err)
	require.True(t, ok, "%v", err)
	require.ErrorContains(t, err, "WAYBILL_WORKSPACE")
	return e
}

// root returns "/" or the drive of the temporary folder.
func root(t *testing.T) string {
	return filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
}

func TestRootAndHomeAreNeverAWorkspace(t *testing.T) {
	base := t.TempDir()
	home := project(t, filepath.Join(base, "home"), "tasks.md", ".git")
	cwd := project(t, filepath.Join(home, "notes"))
	other := project(t, filepath.Join(base, "other"), ".git")
	alias := filepath.Join(base, "alias")
	symlink(t, home, alias)

	for _, wide := range []string{root(t), home, alias, home + string(filepath.Separator), uri(home)} {
		// Said on purpose: refused, although the current folder would do.
		e := unresolved(t, workspace.Sources{Flag: wide, Cwd: other, Home: home})
		require.Len(t, e.Tried, 1)
		require.Contains(t, e.Error(), "never a workspace")
		_ = unresolved(t, workspace.Sources{EnvWorkspace: wide, Cwd: other, Home: home})
		// Said out of habit: as if it were not there.
		w, err := workspace.Resolve(workspace.Sources{InitFolder: wide, ClaudeProjectDir: wide, Cwd: other, Home: home})
		require.NoError(t, err)
		require.Equal(t, other, w.Root)
		_ = unresolved(t, workspace.Sources{Cwd: wide, Home: home})
	}
	e := unresolved(t, workspace.Sources{InitFolder: root(t), Cwd: cwd, Home: home})
	require.Len(t, e.Tried, 5)
	require.Contains(t, e.Error(), "initialize")
	require.Contains(t, e.Error(), "cwd")
}

func TestNamedFolderThatCannotBeUsedEndsTheSearch(t *testing.T) {
	base := t.TempDir()
	cwd := project(t, filepath.Join(base, "cwd"), "tasks.md")
	for _, bad := range []string{
		filepath.Join(base, "absent"), filepath.Join(cwd, "tasks.md"), "${workspaceFolder}",
		"vscode-remote://ssh-remote+host/home/me", "file://other-host.example/x/y", "file:relative", "a\x00b", "file:///a%00b",
	} {
		for _, s := range []workspace.Sources{{Flag: bad}, {EnvWorkspace: bad}, {InitFolder: bad}, {ClaudeProjectDir: bad}} {
			s.Cwd = cwd
			e := unresolved(t, s)
			last := e.Tried[len(e.Tried)-1]
			require.Equal(t, bad, last.Value)
			require.NotEmpty(t, last.Why)
		}
	}
	e := unresolved(t, workspace.Sources{Flag: "relative"})
	require.Contains(t, e.Error(), "current folder is not known")
	e = unresolved(t, workspace.Sources{})
	require.Contains(t, e.Error(), "cwd is not known")
	_ = unresolved(t, workspace.Sources{Cwd: filepath.Join(base, "absent")})
}

// Two spellings are one workspace only on a file system that ignores case.
func TestSpellingByCase(t *testing.T) {
	base := t.TempDir()
	lower := project(t, filepath.Join(base, "project"))
	upper := filepath.Join(filepath.Dir(lower), "PROJECT")
	_, err := os.Stat(upper)
	ignoresCase := err == nil
	if !ignoresCase {
		upper = project(t, upper)
	}
	a, err := workspace.Resolve(workspace.Sources{Flag: lower})
	require.NoError(t, err)
	b, err := workspace.Resolve(workspace.Sources{Flag: upper})
	require.NoError(t, err)
	require.Equal(t, ignoresCase, a.ID == b.ID)
	require.Equal(t, ignoresCase, a.Root == b.Root)
	require.Equal(t, ignoresCase, a.Ino == b.Ino)
}

func TestSpellingsOfOneWorkspace(t *testing.T) {
	base := t.TempDir()
	dir := project(t, filepath.Join(base, "ws"), "tasks.md")
	alias := filepath.Join(base, "alias")
	symlink(t, dir, alias)
	sub := project(t, filepath.Join(dir, "sub"))
	want, err := workspace.Resolve(workspace.Sources{Flag: dir})
	require.NoError(t, err)

	sep := string(filepath.Separator)
	spellings := []string{
		dir + sep, dir + sep + ".", filepath.Join(dir, "sub") + sep + "..", alias, alias + sep,
		uri(dir), uri(dir) + "/", uri(alias), strings.Replace(uri(dir), "file://", "file://localhost", 1),
		strings.Replace(uri(dir), "file://", "FILE:", 1), ".", ".." + sep + "alias",
	}
	if runtime.GOOS == "windows" {
		spellings = append(spellings, strings.ToLower(dir[:1])+dir[1:], filepath.ToSlash(dir))
	}
	for _, spelling := range spellings {
		got, err := workspace.Resolve(workspace.Sources{Flag: spelling, Cwd: dir})
		require.NoError(t, err, spelling)
		require.Equal(t, want, got, spelling)
	}
	above, err := workspace.Resolve(workspace.Sources{Cwd: filepath.Join(alias, "sub")})
	require.NoError(t, err)
	require.Equal(t, want.ID, above.ID)

	other, err := workspace.Resolve(workspace.Sources{Flag: sub})
	require.NoError(t, err)
	require.NotEqual(t, want.ID, other.ID)
}

// The record in the state folder reports a replaced workspace folder once.
func TestReplacedWorkspaceIsNoticed(t *testing.T) {
	base := t.TempDir()
	dir := project(t, filepath.Join(base, "ws"))
	resolve := func() workspace.Workspace {
		t.Helper()
		w, err := workspace.Resolve(workspace.Sources{Flag: dir, StateBase: filepath.Join(base, "state")})
		require.NoError(t, err)
		require.NoError(t, w.EnsureStateDir())
		return w
	}
	first := resolve()
	for range 2 {
		replaced, err := first.Remember()
		require.NoError(t, err)
		require.Nil(t, replaced)
	}
	require.NoError(t, os.Rename(dir, dir+"-old")) // kept, so that its inode is not used again
	project(t, dir)
	second := resolve()
	require.Equal(t, first.ID, second.ID)
	replaced, err := second.Remember()
	require.NoError(t, err)
	require.Equal(t, &workspace.Identity{Root: first.Root, Dev: first.Dev, Ino: first.Ino}, replaced)
	replaced, err = second.Remember()
	require.NoError(t, err)
	require.Nil(t, replaced)

	record := filepath.Join(second.StateDir, "workspace.json")
	require.NoError(t, os.WriteFile(record, []byte("{damaged"), 0o600))
	replaced, err = second.Remember()
	require.NoError(t, err)
	require.Nil(t, replaced)
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	require.Contains(t, string(text), `"ino":`)
	entries, err := os.ReadDir(second.StateDir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

// After tasks.md was deleted, a start in a subfolder finds the same workspace and not the project around it.
func TestWorkspaceIsFoundAfterItsOnlyMarkerIsGone(t *testing.T) {
	for _, outerMarker := range []string{".git", ""} {
		base := t.TempDir()
		outer := project(t, filepath.Join(base, "outer"))
		if outerMarker != "" {
			project(t, outer, outerMarker)
		}
		dir := project(t, filepath.Join(outer, "ws"), "tasks.md")
		s := workspace.Sources{Cwd: project(t, filepath.Join(dir, "src", "deep")), Home: base, StateBase: filepath.Join(base, "state")}
		before, err := workspace.Resolve(s)
		require.NoError(t, err)
		require.Equal(t, dir, before.Root)
		require.NoError(t, before.EnsureStateDir())
		_, err = before.Remember()
		require.NoError(t, err)

		require.NoError(t, os.Remove(filepath.Join(dir, "tasks.md")))
		after, err := workspace.Resolve(s)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

// A record counts only for the same folder: not for an earlier one at its path, not if moved or damaged, not for the
// home folder.
func TestRememberedWorkspaceMustBeTheSameFolder(t *testing.T) {
	base := t.TempDir()
	dir := project(t, filepath.Join(base, "ws"))
	s := workspace.Sources{Cwd: dir, Home: base, StateBase: filepath.Join(base, "state")}
	named := s
	named.Flag = dir
	w, err := workspace.Resolve(named)
	require.NoError(t, err)
	require.NoError(t, w.EnsureStateDir())
	_ = unresolved(t, s) // a state folder without a record
	_, err = w.Remember()
	require.NoError(t, err)
	again, err := workspace.Resolve(s)
	require.NoError(t, err)
	require.Equal(t, w.ID, again.ID)
	home := s
	home.Home = dir
	_ = unresolved(t, home)

	record := filepath.Join(w.StateDir, "workspace.json")
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	for name, spoiled := range map[string]string{
		"of another path": strings.Replace(string(text), "ws", "xy", 1),
		"damaged":         "{",
	} {
		require.NoError(t, os.WriteFile(record, []byte(spoiled), 0o600))
		_, err := workspace.Resolve(s)
		require.Error(t, err, name)
	}
	require.NoError(t, os.WriteFile(record, text, 0o600))
	require.NoError(t, os.Rename(dir, dir+"-old")) // kept, so that its inode is not used again
	project(t, dir)
	_ = unresolved(t, s)
}

func TestFolderPathForms(t *testing.T) {
	for _, c := range []struct{ text, linux, windows string }{
		{"/home/me/p", "/home/me/p", "/home/me/p"},
		{"relative/p", "relative/p", "relative/p"},
		{`C:\Users\me`, `C:\Users\me`, `C:\Users\me`},
		{"file:///home/me/p", "/home/me/p", `\home\me\p`},
		{"file:/home/me/p", "/home/me/p", `\home\me\p`},
		{"FILE://localhost/home/me", "/home/me", `\home\me`},
		{"file:///home/my%20p/%C3%A9", "/home/my p/é", `\home\my p\é`},
		{"file:///home/my p", "/home/my p", `\home\my p`},
		{"file:///home/a#b?c", "/home/a#b?c", `\home\a#b?c`},
		{"file:///home/100%", "/home/100%", `\home\100%`},
		{"file:///c%3A/Users/me", "/c:/Users/me", `C:\Users\me`},
		{"file:///c:/Users/me/", "/c:/Users/me/", `C:\Users\me\`},
		{"file:///C:", "/C:", `C:\`},
		{"file://server/share/p", "", `\\server\share\p`},
		{"file://wsl.localhost/Ubuntu/home", "", `\\wsl.localhost\Ubuntu\home`},
		{"file:", "", ""},
		{"file://", "", ""},
		{"file:p", "", ""},
		{"https://example.com/x", "", ""},
		{"untitled:", "untitled:", "untitled:"},
	} {
		for goos, want := range map[string]string{"linux": c.linux, "windows": c.windows} {
			got, err := workspace.FolderPath(c.text, goos)
			require.Equal(t, want == "", err != nil, "%s on %s: %v", c.text, goos, err)
			require.Equal(t, want, got, "%s on %s", c.text, goos)
		}
	}
}

// A path survives the conversion to a host's URI and back. No result contains NUL or, from a URI on Unix, is
// relative.
func FuzzFolderPath(f *testing.F) {
	for _, seed := range []string{"/home/me", "file:///a%20b", "file://h/x", "file:///c%3A/x", "C:\\x", "/100%", "/a#b?c", "x://y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, goos := range []string{"linux", "windows"} {
			got, err := workspace.FolderPath(text, goos)
			if err == nil {
				require.NotContains(t, got, "\x00")
			}
		}
		if strings.HasPrefix(text, "/") && !strings.ContainsRune(text, 0) && !strings.ContainsFunc(text, unicode.IsControl) {
			encoded := "file://" + strings.ReplaceAll(text, "%", "%25")
			got, err := workspace.FolderPath(encoded, "linux")
			require.NoError(t, err)
			require.Equal(t, text, got)
		}
	})
}
