//go:build unix

package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/check/config"
	"waybill/check/trust"
)

const sound = "[[check]]\nname = \"test\"\nrun = \"make test\"\nprotect = [\"Makefile\"]\n\n[[check]]\nname = \"e2e\"\nrun = \"x\"\nwhen = \"plan\"\n"

// place returns a workspace with a file, and a state folder.
func place(t *testing.T, text string) trust.Place {
	t.Helper()
	p := trust.Place{Root: t.TempDir(), StateDir: t.TempDir()}
	require.NoError(t, os.WriteFile(p.Path(), []byte(text), 0o600))
	return p
}

func TestTrustHoldsForExactlyThisText(t *testing.T) {
	p := place(t, sound)
	s := p.Look()
	require.Equal(t, trust.Untrusted, s.State)
	require.Contains(t, s.Why, "no person has trusted")
	require.Equal(t, trust.Command, s.Mend)
	require.Empty(t, s.Required(config.PerItem), "an untrusted file requires nothing")

	require.NoError(t, p.Keep(s.Text))
	s = p.Look()
	require.Equal(t, trust.Trusted, s.State)
	require.Empty(t, s.Why)
	require.Equal(t, []string{"test"}, s.Required(config.PerItem))
	require.Equal(t, []string{"e2e"}, s.Required(config.PerPlan))
	require.Equal(t, []string{"Makefile"}, s.Patterns())
	c, runs, known := s.Find("test")
	require.True(t, runs)
	require.True(t, known)
	require.Equal(t, "make test", c.Command)

	for name, change := range map[string]func(){
		"a space more":     func() { require.NoError(t, os.WriteFile(p.Path(), []byte(sound+" "), 0o600)) },
		"a check less":     func() { require.NoError(t, os.WriteFile(p.Path(), []byte("# none\n"), 0o600)) },
		"the file is gone": func() { require.NoError(t, os.Remove(p.Path())) },
	} {
		require.NoError(t, os.WriteFile(p.Path(), []byte(sound), 0o600))
		change()
		s = p.Look()
		require.Equal(t, trust.Untrusted, s.State, name)
		require.Contains(t, s.Why, "since a person trusted it", name)
		require.Equal(t, []string{"test"}, s.Required(config.PerItem), "%s: what was trusted is required all the same", name)
		require.Empty(t, s.Patterns(), name)
		_, runs, known = s.Find("test")
		require.False(t, runs, name)
		require.True(t, known, name)
	}
	require.NoError(t, p.Keep(nil))
	require.NoError(t, p.Keep(nil))
	require.NoError(t, os.RemoveAll(p.Path()))
	require.Equal(t, trust.None, p.Look().State)
}

func TestFilesThatSomeoneElseMayHaveWritten(t *testing.T) {
	for want, c := range map[string]struct {
		make func(path string) error
		mend string
	}{
		"is a symbolic link": {func(path string) error {
			return syscall.Symlink(path+".target", path)
		}, "make a copy of your own: cp PATH PATH.new && mv PATH.new PATH"},
		"belongs to user 65534": {func(path string) error {
			if os.Geteuid() != 0 {
				return os.ErrPermission
			}
			_ = os.WriteFile(path, nil, 0o600)
			return os.Chown(path, 65534, 65534)
		}, "make a copy of your own: cp PATH PATH.new && mv PATH.new PATH"},
		"can be written by every user (mode 0646)": {func(path string) error {
			_ = os.WriteFile(path, []byte(sound), 0o600)
			return os.Chmod(path, 0o646)
		}, "chmod o-w PATH"},
		"is a pipe, a socket or a device": {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "rm PATH"},
		"is a folder, and must be a file": {func(path string) error { return os.Mkdir(path, 0o700) }, "mv PATH PATH.old"},
		"is larger than 65536 bytes": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("#", config.MaxSize+1)), 0o600)
		}, "move its commands into scripts"},
	} {
		t.Run(want, func(t *testing.T) {
			p := trust.Place{Root: t.TempDir(), StateDir: t.TempDir()}
			require.NoError(t, os.WriteFile(p.Path()+".target", []byte(sound), 0o600))
			if err := c.make(p.Path()); errors.Is(err, os.ErrPermission) {
				t.Skip("giving a file to another user takes root")
			}
			require.NoError(t, p.Keep([]byte(sound)))
			s := p.Look()
			require.Equal(t, trust.Unusable, s.State)
			require.Contains(t, s.Why, p.Path()+" "+want)
			require.Equal(t, strings.ReplaceAll(c.mend, "PATH", p.Path()), s.Mend)
			require.Empty(t, s.Checks)
			require.Equal(t, []string{"test"}, s.Required(config.PerItem), "what was trusted is required all the same")
			_, runs, _ := s.Find("test")
			require.False(t, runs)
		})
	}
}

func TestFileWithMistakesIsUnusable(t *testing.T) {
	p := place(t, "[[check]]\nrun = 1\n")
	s := p.Look()
	require.Equal(t, trust.Unusable, s.State)
	require.Len(t, s.Mistakes, 2)
	require.Equal(t, `.waybill.toml:1:3: the check has no name: write name = "test" (and 1 more)`, s.Why)
}

func TestTrustedTextThatCannotBeBelieved(t *testing.T) {
	p := place(t, sound)
	require.NoError(t, p.Keep([]byte(sound)))
	kept := filepath.Join(p.StateDir, "checks.json")
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	for name, change := range map[string]func() error{
		"is damaged": func() error {
			return os.WriteFile(kept, []byte(strings.Replace(string(text), "make", "fake", 1)), 0o600)
		},
		"cannot be read":     func() error { return os.WriteFile(kept, text[:20], 0o600) },
		"is a symbolic link": func() error { return os.Symlink(p.Path(), kept) },
	} {
		require.NoError(t, os.Remove(kept))
		require.NoError(t, change(), name)
		s := p.Look()
		require.Equal(t, trust.Unusable, s.State, name)
		require.Contains(t, s.Why, kept+" "+name)
		require.Contains(t, s.Mend, "rm "+kept, name)
	}
}

// An agent can write into the workspace, and so nothing there says what is trusted.
func TestNoTrustIsKeptInTheWorkspace(t *testing.T) {
	for name, state := range map[string]func(root string) string{
		"below it":       func(root string) string { return filepath.Join(root, ".state", "id") },
		"it":             func(root string) string { return root },
		"through a link": func(root string) string { return filepath.Join(link(t, root), "id") },
		"nowhere":        func(string) string { return "" },
	} {
		p := place(t, sound)
		p.StateDir = state(p.Root)
		require.Error(t, p.Keep([]byte(sound)), name)
		require.Equal(t, trust.Unusable, p.Look().State, name)
		require.NoError(t, os.Remove(p.Path()))
		require.Equal(t, trust.None, p.Look().State, "%s: without a file there is nothing to trust", name)
	}
}

func link(t *testing.T, to string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(to, path))
	return path
}

func TestBaseOfProtectedFiles(t *testing.T) {
	p := place(t, sound)
	b, err := p.Base()
	require.NoError(t, err)
	require.Nil(t, b)
	b = trust.NewBase([]string{"b", "a", "b"}, map[string]string{"kept": "1", "changed": "1", "removed": "1"})
	b.Asked["run_1"] = trust.Asking{Check: "test", Round: 2, Files: map[string]string{"kept": "1"}}
	require.NoError(t, p.SaveBase(b))
	again, err := p.Base()
	require.NoError(t, err)
	require.Equal(t, b, again)
	require.True(t, b.HasPatterns([]string{"a", "b"}))
	require.False(t, b.HasPatterns([]string{"a"}))
	now := map[string]string{"kept": "1", "changed": "2", "new": "1"}
	require.Equal(t, []string{"changed", "new", "removed"}, b.Changed(now))
	b.Accept(now)
	require.Empty(t, b.Changed(now))
	require.Empty(t, b.Changed(map[string]string{"kept": "1", "changed": "1", "removed": "1"}), "as it was before is accepted, too")
	require.Equal(t, []string{"changed"}, b.Changed(map[string]string{"kept": "1", "changed": "3"}))
	info, err := os.Stat(filepath.Join(p.StateDir, "protected.json"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
}
