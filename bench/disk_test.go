package bench

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recordBytes is about what one change of an instruction puts into a log.
const recordBytes = 350

// A rawLog is a file of records that are synced before anybody is told of them: the least that a
// durable change can cost.
type rawLog struct {
	f      *os.File
	record []byte
}

func newRawLog(b *testing.B, dir string) *rawLog {
	f, err := os.Create(filepath.Join(dir, "raw.log"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, f.Close()) })
	return &rawLog{f, make([]byte, recordBytes)}
}

// alone appends n records, each synced, and gives the rate.
func (l *rawLog) alone(b *testing.B, n int) float64 {
	start := time.Now()
	for range n {
		l.append(b, 1)
	}
	return rate(n, time.Since(start))
}

func (l *rawLog) append(b *testing.B, records int) {
	for range records {
		if _, err := l.f.Write(l.record); err != nil {
			b.Fatal(err)
		}
	}
	if err := syncData(l.f); err != nil {
		b.Fatal(err)
	}
}

// together appends n records for a window of callers, each of whom waits for his own. Those who wait
// at the same time share a sync. It gives the rate.
func (l *rawLog) together(b *testing.B, n int) float64 {
	waiting := make(chan chan struct{}, window) // closed below when all callers are served
	start := time.Now()
	var callers sync.WaitGroup
	for range window {
		callers.Go(func() { // ends when its share is appended
			synced := make(chan struct{}, 1)
			for range n / window {
				waiting <- synced
				<-synced
			}
		})
	}
	go func() { // ends with the callers
		callers.Wait()
		close(waiting)
	}()
	var group []chan struct{}
	for first := range waiting {
		group = append(group[:0], first)
		for range len(waiting) {
			group = append(group, <-waiting)
		}
		l.append(b, len(group))
		for _, caller := range group {
			caller <- struct{}{}
		}
	}
	return rate(n, time.Since(start))
}
