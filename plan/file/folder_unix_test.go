//go:build unix

package file_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

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
	require.NoError(t, os.RemoveAll(at("")))
	require.NoError(t, syscall.Mkfifo(filepath.Clean(at("")), 0o644))
	_, err = r.Read(plans, nil)
	refused(t, err, plans, planfile.NotRegular)
}

// A folder that must not be listed, or a file in it that must not be read, is reported by its name.
func TestFaultF4_UnreadableFolderIsReported(t *testing.T) {
	dir := public(t)
	at := func(name string) string { return filepath.Join(dir, "plans", name) }
	write(t, at("a.md"), "a")
	write(t, at("b.md"), "b")
	r := open(t, dir, planfile.Options{Folders: true})
	require.NoError(t, os.Chmod(at("b.md"), 0))
	unprivileged(t, func() {
		_, err := r.Read("plans", nil)
		refused(t, err, "plans/b.md", planfile.Unreadable)
		require.ErrorIs(t, err, os.ErrPermission)
	})
	require.NoError(t, os.Chmod(at("b.md"), 0o644))
	require.NoError(t, os.Chmod(at(""), 0o311))
	t.Cleanup(func() { _ = os.Chmod(at(""), 0o755) })
	unprivileged(t, func() {
		_, err := r.Read("plans", nil)
		refused(t, err, "plans", planfile.Unreadable)
		got, err := r.Find([]string{"plans/"})
		require.ErrorIs(t, err, os.ErrPermission)
		require.Empty(t, got)
	})
	require.NoError(t, os.Chmod(at(""), 0o755))
	unprivileged(t, func() { require.Equal(t, []string{"a.md", "b.md"}, listed(t, r, "plans")) })
}
