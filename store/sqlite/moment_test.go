package sqlite_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

func moment(t *testing.T, s *sqlite.Store) store.Moment {
	t.Helper()
	now, ok := s.Moment()
	require.True(t, ok, "nobody is at a commit")
	return now
}

// TestNoMomentWhileAnotherMayCommit: the commit of another process ends a moment, and one that holds the store may have
// committed already. If it dies in that,
// nobody knows, and the moment after it is another one.
func TestNoMomentWhileAnotherMayCommit(t *testing.T) {
	s, path := openNew(t)
	before := moment(t, s)
	require.Equal(t, "1", stepper(t, path).ask(t, "update"))
	require.NotEqual(t, before, moment(t, s))
	before = moment(t, s)
	c := holding(t, path)
	_, ok := s.Moment()
	require.False(t, ok)
	c.kill(t)
	_, ok = s.Moment()
	require.False(t, ok, "whether it had committed, the file does not say")
	require.Error(t, s.Update(t.Context(), func(store.Tx) error { return os.ErrInvalid }))
	require.NotEqual(t, before, moment(t, s))
}

// TestNoMomentFromHalfARecord: who reads without the lock may meet a write half-way, or what an older waybill writes.
func TestNoMomentFromHalfARecord(t *testing.T) {
	s, path := openNew(t)
	moment(t, s)
	text := fileText(t, path+".lock")
	for i := range text {
		require.NoError(t, os.WriteFile(path+".lock", text[:i], 0o600))
		_, ok := s.Moment()
		require.False(t, ok, "%q", text[:i])
		bent := append([]byte(nil), text...)
		bent[i] ^= 1
		require.NoError(t, os.WriteFile(path+".lock", bent, 0o600))
		_, ok = s.Moment()
		require.False(t, ok, "%q", bent)
	}
	require.NoError(t, os.WriteFile(path+".lock", text, 0o600))
	moment(t, s)
	if runtime.GOOS != "windows" { // what a link in its place leads to is of somebody else
		require.NoError(t, os.WriteFile(path+".elsewhere", text, 0o600))
		require.NoError(t, os.Remove(path+".lock"))
		require.NoError(t, os.Symlink(path+".elsewhere", path+".lock"))
		_, ok := s.Moment()
		require.False(t, ok)
	}
}

// TestMomentsOfAnotherLockFileAreOthers: its count begins anew, and comes to the same numbers.
func TestMomentsOfAnotherLockFileAreOthers(t *testing.T) {
	unixOnly(t, "an open file cannot be removed here")
	s, path := openNew(t)
	seen := map[store.Moment]bool{}
	for range 3 {
		for range 3 {
			update(t, s, appendOne)
			require.False(t, seen[moment(t, s)])
			seen[moment(t, s)] = true
		}
		require.NoError(t, os.Remove(path+".lock"))
		_, ok := s.Moment()
		require.False(t, ok)
	}
}
