//go:build unix

package planfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine/planfile"
)

// A link or a pipe has the name of the lock: it is not followed, nobody waits for it, and nothing is written.
func TestTheFileOfTheLockIsNoLinkAndNoPipe(t *testing.T) {
	for name, put := range map[string]func(lock, target string) error{
		"link": func(lock, target string) error { return os.Symlink(target, lock) },
		"pipe": func(lock, _ string) error { return syscall.Mkfifo(lock, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, other := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, "tasks.md"), plan)
			lock, target := filepath.Join(other, "lock"), filepath.Join(other, "target")
			require.NoError(t, put(lock, target))
			r := open(t, dir, planfile.Options{LockPath: lock})
			_, err := r.Rewrite("tasks.md", "", func(planfile.File) (string, error) { return "changed", nil })
			require.ErrorContains(t, err, "lock")
			require.NoFileExists(t, target)
			text, err := os.ReadFile(filepath.Join(dir, "tasks.md"))
			require.NoError(t, err)
			require.Equal(t, plan, string(text))
		})
	}
}

// Whoever opens a pipe waits for somebody to write to it, and it is no plan.
func TestFaultF3_OnlyARegularFileIsOpened(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "plan.md"), filepath.Join(dir, "pipe")
	write(t, file, plan)
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, name := range []string{pipe, dir, os.DevNull} {
		_, err := planfile.OpenRegular(name)
		require.ErrorIs(t, err, planfile.NotRegular)
	}
	_, err := planfile.OpenRegular(file + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	f, err := planfile.OpenRegular(file)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
