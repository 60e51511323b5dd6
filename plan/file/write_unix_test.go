//go:build unix

package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// unwritten asserts that err is a *planfile.WriteError with that reason, and that nothing was written.
func unwritten(t testing.TB, err error, reason planfile.WriteReason, path string) {
	t.Helper()
	require.ErrorIs(t, err, reason)
	e, ok := errors.AsType[*planfile.WriteError](err)
	require.True(t, ok, "%T", err)
	require.Equal(t, "tasks.md", e.Path)
	require.False(t, e.Swapped)
	require.ErrorContains(t, err, `plan "tasks.md" cannot be written (`+string(reason)+"): ")
	has(t, path, planText)
}

// A workspace in which nothing may be written: the folder, the file, or both.
func TestFaultF23_WritingToAReadOnlyWorkspaceIsRefused(t *testing.T) {
	for name, modes := range map[string][2]fs.FileMode{
		"folder": {0o555, 0o666}, "file": {0o777, 0o444}, "file of others": {0o777, 0o644}, "both": {0o555, 0o444},
	} {
		t.Run(name, func(t *testing.T) {
			dir := public(t)
			path := filepath.Join(dir, "tasks.md")
			write(t, path, planText)
			if name == "file of others" && os.Geteuid() != 0 {
				t.Skip("only root can run as somebody else")
			}
			require.NoError(t, os.Chmod(path, modes[1]))
			require.NoError(t, os.Chmod(dir, modes[0]))
			t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
			r := open(t, dir, planfile.Options{})
			unprivileged(t, func() {
				_, err := r.Rewrite("tasks.md", "", check)
				unwritten(t, err, planfile.Denied, path)
			})
			only(t, dir, "tasks.md")
		})
	}
}

// Nobody may write to the file, which root could.
func TestFileThatIsReadOnlyForAllIsLeftToThem(t *testing.T) {
	r, dir, path := bench(t)
	require.NoError(t, os.Chmod(path, 0o444))
	_, err := r.Rewrite("tasks.md", "", check)
	unwritten(t, err, planfile.Denied, path)
	only(t, dir, "tasks.md")
}

func TestFaultF18_HardLinkedPlanIsNotSplit(t *testing.T) {
	r, dir, path := bench(t)
	other := filepath.Join(dir, "other.md")
	require.NoError(t, os.Link(path, other))
	_, err := r.Rewrite("tasks.md", "", check)
	unwritten(t, err, planfile.HardLinked, path)
	require.NoError(t, os.Remove(other))
	checked(t, r)
	has(t, path, changed)
}

func TestOwnerAndModeOfThePlanStay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	r, _, path := bench(t)
	require.NoError(t, os.Chown(path, 1234, 4321))
	require.NoError(t, os.Chmod(path, 0o604))
	checked(t, r)
	info, err := os.Stat(path)
	require.NoError(t, err)
	st := info.Sys().(*syscall.Stat_t)
	require.EqualValues(t, 1234, st.Uid)
	require.EqualValues(t, 4321, st.Gid)
	require.Equal(t, fs.FileMode(0o604), info.Mode())
}

// A plan that somebody replaced by a pipe in the last moment comes back, and nobody waits for it.
func TestPipeInTheLastMomentIsPutBack(t *testing.T) {
	if !exchanges {
		t.Skip("this system cannot exchange two names in one step")
	}
	r, dir, path := bench(t)
	r.AfterCheck(func() {
		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o644))
	})
	_, err := r.Rewrite("tasks.md", "", check)
	conflicts(t, err, hash(planText), "")
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeNamedPipe)
	require.FileExists(t, filepath.Join(dir, "tasks.md"))
}
