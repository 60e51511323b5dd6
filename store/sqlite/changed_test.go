package sqlite_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
)

// eachWatch runs a test where nothing but the watch can be in time, if this system has one, and where there is none.
func eachWatch(t *testing.T, test func(t *testing.T, o sqlite.Options)) {
	if runtime.GOOS == "linux" {
		t.Run("watched", func(t *testing.T) { test(t, sqlite.Options{Path: path(t)}.Netting(time.Hour)) })
	}
	t.Run("looked at", func(t *testing.T) { test(t, sqlite.Options{Path: path(t)}.Unwatched()) })
}

// TestChangedByOthers: each commit of another process is signalled, also the one after a pause, and those of a
// process that was there before.
func TestChangedByOthers(t *testing.T) {
	eachWatch(t, func(t *testing.T, o sqlite.Options) {
		c := stepper(t, o.Path)
		s := open(t, o)
		changed := s.Changed()
		for range 20 {
			c.ask(t, "update")
			awaitSignal(t, changed)
		}
	})
}

// TestChangedByTheDead: a process dies at its commit. Whether it has committed nobody knows, and who waits for
// something had better look.
func TestChangedByTheDead(t *testing.T) {
	eachWatch(t, func(t *testing.T, o sqlite.Options) {
		s, other := open(t, o), open(t, o)
		c := holding(t, o.Path)
		changed, others := s.Changed(), other.Changed()
		c.kill(t)
		awaitSignal(t, changed)
		awaitSignal(t, others)
		update(t, s, appendOne)
		awaitSignal(t, others)
	})
}

// TestChangedNotWhileAnotherHolds: who is at a change that takes long is not taken for dead.
func TestChangedNotWhileAnotherHolds(t *testing.T) {
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Unwatched())
	c := holding(t, path)
	for range 100 {
		require.False(t, s.Inherit())
	}
	c.kill(t)
	require.True(t, s.Inherit())
}

// TestChangedInANewLockFile: the file that is watched was removed, and others lock another one.
func TestChangedInANewLockFile(t *testing.T) {
	unixOnly(t, "an open file cannot be removed here")
	path := path(t)
	s := open(t, sqlite.Options{Path: path}.Netting(10*time.Millisecond))
	c := stepper(t, path)
	changed := s.Changed()
	c.ask(t, "update")
	awaitSignal(t, changed)
	require.NoError(t, os.Remove(path+".lock"))
	for range 3 { // it counts anew, and has to come to what was known
		c.ask(t, "update")
	}
	awaitSignal(t, changed)
}
