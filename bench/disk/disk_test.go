package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/bench/disk"
)

func TestEveryRecordIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := disk.Create(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, log.Close()) }()
	took, err := log.Alone(3)
	require.NoError(t, err)
	require.Positive(t, took)
	one, err := os.Stat(path)
	require.NoError(t, err)
	_, err = log.Together(96, 32)
	require.NoError(t, err)
	all, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, one.Size()/3*99, all.Size())
}

func TestAFailureEndsTheWaitOfAllCallers(t *testing.T) {
	log, err := disk.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	require.NoError(t, log.Close())
	_, err = log.Together(64, 8)
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = log.Alone(1)
	require.ErrorIs(t, err, os.ErrClosed)
}
