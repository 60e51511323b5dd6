//go:build unix

package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// A link or a pipe has the name of the lock, or its folder is not there: it is not followed, nobody waits for it, and
// nothing is written.
func TestTheFileOfTheLockIsNoLinkAndNoPipe(t *testing.T) {
	for name, put := range map[string]func(lock, target string) error{
		"in no folder": func(lock, _ string) error { return os.Remove(filepath.Dir(lock)) },
		"link":         func(lock, target string) error { return os.Symlink(target, lock) },
		"pipe":         func(lock, _ string) error { return syscall.Mkfifo(lock, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, other := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, "tasks.md"), planText)
			lock, target := filepath.Join(other, "lock"), filepath.Join(other, "target")
			require.NoError(t, put(lock, target))
			r := open(t, dir, planfile.Options{LockPath: lock})
			_, err := r.Rewrite("tasks.md", "", func(planfile.File) (string, error) { return "changed", nil })
			require.ErrorIs(t, err, planfile.Unwritable)
			require.NoFileExists(t, target)
			has(t, filepath.Join(dir, "tasks.md"), planText)
		})
	}
}

// The lock is a second name of another file of the user: its contents gave way to those of the lock.
func TestASecondNameInThePlaceOfTheLockWasTruncated(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), planText)
	lock, target := filepath.Join(other, "lock"), filepath.Join(other, "target")
	write(t, target, "alias ls=ls")
	require.NoError(t, os.Link(target, lock))
	planfile.RemoveLeftovers(lock)
	_, err := open(t, dir, planfile.Options{LockPath: lock}).Rewrite("tasks.md", "", check)
	require.ErrorContains(t, err, "second name")
	has(t, target, "alias ls=ls")
}

// Whoever opens a pipe waits for somebody to write to it, and it is no plan.
func TestFaultF3_OnlyARegularFileIsOpened(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "plan.md"), filepath.Join(dir, "pipe")
	write(t, file, planText)
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

// Forty writers at once had a queue that took longer than one waits for a writer that hangs, and some gave up.
func TestDefect_AQueueOfWritersIsNoneThatHangs(t *testing.T) {
	for seconds, want := range map[int]error{10: nil, 60: planfile.Locked} {
		synctest.Test(t, func(t *testing.T) {
			dir, _ := planned(t, planText)
			lock := filepath.Join(t.TempDir(), "plans.lock")
			f, err := os.Create(lock)
			require.NoError(t, err)
			require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
			r := open(t, dir, planfile.Options{LockPath: lock})
			var queue sync.WaitGroup
			queue.Go(func() {
				for turn := range seconds {
					time.Sleep(time.Second)
					_ = os.Chtimes(lock, time.Time{}, time.Unix(int64(turn), 0))
				}
				_ = f.Close()
			})
			begin := time.Now()
			_, err = r.Rewrite("tasks.md", "", check)
			require.ErrorIs(t, err, want)
			require.LessOrEqual(t, time.Since(begin), 31*time.Second, "there is an end to every queue")
			if want != nil {
				unwritten(t, err, planfile.Locked, filepath.Join(dir, "tasks.md"))
				// A lock whose file was removed keeps nobody out.
				require.NoError(t, os.Remove(lock))
				checked(t, r)
			}
			queue.Wait()
		})
	}
}

// Who has its turn shows it in the file, by which those who wait see that the lock goes round.
func TestATurnIsSeenInTheFileOfTheLock(t *testing.T) {
	dir, _ := planned(t, planText)
	lock := filepath.Join(t.TempDir(), "plans.lock")
	then := time.Unix(1, 0)
	write(t, lock, "")
	require.NoError(t, os.Chtimes(lock, then, then))
	checked(t, open(t, dir, planfile.Options{LockPath: lock}))
	info, err := os.Stat(lock)
	require.NoError(t, err)
	require.NotEqual(t, then, info.ModTime())
}
