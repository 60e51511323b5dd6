package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTurnstile is inside because seen from the front it is a matter of luck who comes first.
func TestTurnstile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *fairLock {
		s, err := openFairLock(path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.close()) })
		return s
	}
	had := func(s *fairLock) bool {
		got, err := s.try()
		require.NoError(t, err)
		return got
	}
	hasty, patient := open(), open()
	require.True(t, had(hasty))
	require.False(t, had(patient))
	hasty.unlock()
	require.True(t, had(hasty), "the hasty one overtakes")

	require.True(t, patient.closeGate())
	require.False(t, hasty.closeGate(), "one can close it")
	hasty.unlock()
	require.False(t, had(hasty), "the lock is free, but not for who comes to a closed gate")
	got, err := tryLock(patient.lock)
	require.NoError(t, err)
	require.True(t, got)
	patient.openGate()
	require.False(t, had(hasty))
	patient.unlock()
	require.True(t, had(hasty))
}

// TestRecord is inside because the lock file is nobody else's to read.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l := newLockFile(path)
	l.self.host = plain("höst name\n"+string(make([]byte, 100)), hostSize)
	require.NoError(t, l.acquire(t.Context(), 0))
	l.says.newest, l.says.commits, l.says.spent = 1<<62, 1<<61, true
	want := l.says
	l.release()
	require.NoError(t, l.acquire(t.Context(), 0))
	require.Equal(t, want, l.says)
	require.Len(t, l.text, recordSize)
	require.Equal(t, want, parseRecord(l.text))
	l.release()
	require.NoError(t, l.close())
}
