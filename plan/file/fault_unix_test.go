//go:build unix

package file_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
	"waybill/plan/places"
)

// A pipe, a socket or a device in the place of the plan is refused, and neither
// waited for nor opened.
func TestFaultF3_SpecialFilesAreNotOpened(t *testing.T) {
	for kind, plant := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"device": func(path string) error { return exec.Command("mknod", path, "c", "1", "3").Run() },
		"socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		},
	} {
		t.Run(kind, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "f3") // short: the path of a socket has a limit
			require.NoError(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			if err := plant(filepath.Join(dir, "tasks.md")); err != nil {
				t.Skipf("a %s cannot be made here: %v", kind, err)
			}
			symlink(t, "tasks.md", filepath.Join(dir, "link.md"))
			r := open(t, dir, planfile.Options{})
			for _, rel := range []string{"tasks.md", "link.md"} {
				_, err := r.Read(rel, nil)
				refused(t, err, rel, planfile.NotRegular)
				require.ErrorContains(t, err, kind)
			}
			got := found(t, r, []string{"tasks.md", "link.md", "tasks.md/*/x"})
			require.Empty(t, got)
		})
	}
}

// A pipe among the files of a folder is refused by its name, and not waited for; one that is no file of
// the plan is not looked at.
func TestFaultF3_PipeInAFolder(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a"})
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o644))
	require.Equal(t, []string{"a.md"}, listed(t, r, plans))
	require.NoError(t, syscall.Mkfifo(at("b.md"), 0o644))
	_, err := r.Read(plans, nil)
	refused(t, err, plans+"/b.md", planfile.NotRegular)
	require.ErrorContains(t, err, "pipe")
}

// A plan without read permission, behind a folder without search permission, or in one that must not be listed, is
// reported, and read once the permission is back.
func TestFaultF4_UnreadablePlanIsReported(t *testing.T) {
	dir := public(t)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"tasks.md", "locked/tasks.md", "plans/a.md", "plans/b.md", "unlisted/a.md"} {
		write(t, at(name), planText)
	}
	modes := map[string]os.FileMode{"tasks.md": 0, "locked": 0, "plans/b.md": 0, "unlisted": 0o311}
	for name, mode := range modes {
		require.NoError(t, os.Chmod(at(name), mode))
	}
	mend := func() {
		for name := range modes {
			_ = os.Chmod(at(name), 0o755)
		}
	}
	t.Cleanup(mend)
	r := open(t, dir, planfile.Options{Folders: true})
	plans := map[string]string{"tasks.md": "tasks.md", "locked/tasks.md": "locked/tasks.md", "plans": "plans/b.md", "unlisted": "unlisted"}
	unprivileged(t, func() {
		for rel, names := range plans {
			_, err := r.Read(rel, nil)
			refused(t, err, names, planfile.Unreadable)
			require.ErrorIs(t, err, os.ErrPermission)
		}
		for _, pattern := range []string{"locked/*/tasks.md", "unlisted/"} {
			got, err := r.Find([]string{pattern, "locked/tasks.md"})
			require.ErrorIs(t, err, os.ErrPermission)
			require.Empty(t, got)
		}
	})
	mend()
	unprivileged(t, func() {
		for rel := range plans {
			readOf(t, r, rel, nil)
		}
	})
}

// A workspace that cannot be written to works, and nothing is left behind in it.
func TestFaultF23_ReadOnlyWorkspace(t *testing.T) {
	dir := public(t)
	write(t, filepath.Join(dir, "tasks.md"), planText)
	require.NoError(t, os.Chmod(filepath.Join(dir, "tasks.md"), 0o444))
	require.NoError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	before := statOf(t, dir)
	unprivileged(t, func() {
		require.Error(t, os.WriteFile(filepath.Join(dir, "probe"), nil, 0o644))
		r := open(t, dir, planfile.Options{})
		f := readOf(t, r, "tasks.md", nil)
		require.Equal(t, planText, f.Text)
		got := found(t, r, places.Patterns())
		require.Equal(t, []string{"tasks.md"}, got)
	})
	after := statOf(t, dir)
	require.Equal(t, before, after)
}

// public returns a temporary folder that every user can enter.
func public(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	return dir
}
