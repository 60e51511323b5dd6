package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/store/sqlite"
	"waybill/test/slow"
)

// TestFaultS21_CrashWhileWriting kills a process that makes a store, writes to it and closes it, at
// every write, sync, rename and removal. What it said was durable is there.
func TestFaultS21_CrashWhileWriting(t *testing.T) {
	slow.Test(t)
	crashSweep(t, "some", func(*testing.T, string) {}, func(t *testing.T, path string, said []string) {
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		have := newest(t, s)
		require.GreaterOrEqual(t, have, int64(len(numbers(t, said))))
		update(t, s, appendOne)
		require.Equal(t, have+1, newest(t, s))
		sound(t, s)
	})
}

// TestCrashWhileRestoringBesideAnOpenStore kills a restore at every write, sync, rename and removal, while another process
// has the store open. That one goes on with the old contents or the new ones, whole, and the old ones are never lost.
func TestCrashWhileRestoringBesideAnOpenStore(t *testing.T) {
	slow.Test(t)
	const before, after = 5, 3
	old, copied := path(t), path(t)
	require.NoError(t, withEvents(t, old, before).Close())
	require.NoError(t, withEvents(t, copied, after).Close())
	t.Setenv("COPY", copied)
	var s *sqlite.Store
	crashSweep(t, "restore", func(t *testing.T, path string) {
		copyFile(t, old, path)
		s = open(t, sqlite.Options{Path: path})
	}, func(t *testing.T, path string, said []string) {
		have := newest(t, s)
		if have != before || slices.Contains(said, "restored") {
			require.EqualValues(t, after, have)
			requireSetAside(t, path, before)
		}
		update(t, s, appendOne)
		require.NoError(t, s.Close())
		again := open(t, sqlite.Options{Path: path})
		require.Equal(t, have+1, newest(t, again))
		sound(t, again)
		require.NoError(t, again.Close())
	})
}

// requireSetAside makes sure that the one store that was set aside is whole.
func requireSetAside(t *testing.T, path string, events int64) {
	t.Helper()
	aside, err := filepath.Glob(path + ".replaced-*Z")
	require.NoError(t, err)
	require.Len(t, aside, 1)
	requireEvents(t, aside[0], events)
}

// crashSweep runs a child that plays the part again and again, and kills it at the first, second, …
// call of each kind that changes a file, until it gets to its end.
func crashSweep(t *testing.T, part string, prepare func(*testing.T, string), check func(*testing.T, string, []string)) {
	step := 1
	switch {
	case slow.Race: // which sees nothing of what a killed child has left, and takes ten times as long
		step = 37
	case testing.Short():
		step = 11
	}
	for _, call := range []string{"pwrite64", "fsync", "ftruncate", "unlink", "unlinkat", "renameat"} {
		t.Run(call, func(t *testing.T) {
			for n := 1; ; n += step {
				path := path(t)
				prepare(t, path)
				cmd := command(t, part, path, strace(t, os.DevNull, fmt.Sprintf("%s:signal=KILL:when=%d", call, n))...)
				cmd.Env = append(cmd.Env, "COUNT=2")
				out, err := cmd.Output()
				check(t, path, strings.Fields(string(out)))
				if err == nil {
					t.Logf("%d points", n-1)
					return
				}
			}
		})
	}
}

// TestDurable_KilledAtRandom kills a writing process at random moments. What it said was durable is
// there, also in the next opening and the one after.
func TestDurable_KilledAtRandom(t *testing.T) {
	slow.Test(t)
	path := path(t)
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		c := start(t, command(t, "append", path))
		last := c.line(t)
		for range rand.IntN(60) {
			last = c.line(t)
		}
		require.NoError(t, c.Process.Kill())
		if more := c.rest(); len(more) > 0 {
			last = more[len(more)-1]
		}
		_ = c.Wait()
		s := open(t, sqlite.Options{Path: path})
		require.GreaterOrEqual(t, newest(t, s), numbers(t, []string{last})[0])
		sound(t, s)
	}
}

// TestDurable_PowerCut cuts the power of a disk while a process writes to it: the kernel drops what it
// has not synced, like a machine that is switched off. What was said to be durable is there.
//
// Only what was said before the cut counts. A sync that is under way while a file system is shut down
// may answer that all is well, with any program; a machine without power answers nothing.
func TestDurable_PowerCut(t *testing.T) {
	slow.Test(t)
	dir, image := smallDisk(t, "ext4", 64)
	path := filepath.Join(dir, "state", "waybill", "store.db")
	for range 3 {
		c := start(t, command(t, "append", path))
		last := c.line(t)
		for range 50 + rand.IntN(100) {
			last = c.line(t)
		}
		cutPower(t, dir)
		require.NoError(t, c.Process.Kill())
		_ = c.rest()
		_ = c.Wait()
		shell(t, "umount", dir)
		shell(t, "mount", "-o", "loop", image, dir)

		s := open(t, sqlite.Options{Path: path})
		require.GreaterOrEqual(t, newest(t, s), numbers(t, []string{last})[0])
		sound(t, s)
		require.NoError(t, s.Close())
	}
}

// cutPower makes the file system drop what is not on its disk and answer every call with an error.
func cutPower(t *testing.T, dir string) {
	t.Helper()
	const shutdown, withoutFlushingTheLog = 0x8004587d, 2
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	if err := unix.IoctlSetPointerInt(int(d.Fd()), shutdown, withoutFlushingTheLog); err != nil {
		t.Skipf("this file system cannot be shut down: %v", err)
	}
}

func shell(t *testing.T, line ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
	require.NoError(t, err, "%v: %s", line, out)
}
