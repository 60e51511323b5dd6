package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/bench/disk"
)

// A rawLog is the disk alone, in a benchmark.
type rawLog struct{ *disk.Log }

func newRawLog(b *testing.B, dir string) *rawLog {
	log, err := disk.Create(filepath.Join(dir, "raw.log"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, log.Close()) })
	return &rawLog{log}
}

// alone appends n records, each synced, and returns the rate.
func (l *rawLog) alone(b *testing.B, n int) float64 {
	return l.rate(b, n, func() (time.Duration, error) { return l.Alone(n) })
}

// together appends n records for a window of callers, each of whom waits for his own, and returns the rate.
func (l *rawLog) together(b *testing.B, n int) float64 {
	return l.rate(b, n, func() (time.Duration, error) { return l.Together(n, window) })
}

func (l *rawLog) rate(b *testing.B, n int, do func() (time.Duration, error)) float64 {
	took, err := do()
	if err != nil {
		b.Fatal(err)
	}
	return rate(n, took)
}
