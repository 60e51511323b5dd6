// Package disk measures the least that a durable change can cost: a record at the end of a file, synced. It knows nothing
// of databases, and judges nothing.
package disk

import (
	"os"
	"sync"
	"time"
)

// recordBytes is about what one change of an instruction puts into a log.
const recordBytes = 350

// A Log is a file of records that are synced before anybody is told of them. It serves one goroutine at a time.
type Log struct {
	f      *os.File
	record []byte
}

// Create makes a log at path, empty.
func Create(path string) (*Log, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Log{f, make([]byte, recordBytes)}, nil
}

// Close closes the file, and leaves it where it is.
func (l *Log) Close() error { return l.f.Close() }

// Append appends that many records and syncs them together.
func (l *Log) Append(records int) error {
	for range records {
		if _, err := l.f.Write(l.record); err != nil {
			return err
		}
	}
	return syncData(l.f)
}

// Alone appends n records, each synced before the next, and returns how long that took.
func (l *Log) Alone(n int) (time.Duration, error) {
	start := time.Now()
	for range n {
		if err := l.Append(1); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// Together appends n records for callers of whom each waits for his own, and returns how long that took. Those who wait
// at the same time share a sync. n is a multiple of callers.
func (l *Log) Together(n, callers int) (time.Duration, error) {
	waiting := make(chan chan struct{}, callers) // closed below when all callers are served
	start := time.Now()
	var all sync.WaitGroup
	for range callers {
		all.Go(func() { // ends when its share is appended, or appending has failed
			synced := make(chan struct{}, 1)
			for range n / callers {
				waiting <- synced
				<-synced
			}
		})
	}
	go func() { // ends with the callers
		all.Wait()
		close(waiting)
	}()
	err := l.serve(waiting)
	return time.Since(start), err
}

// serve appends a record for each waiting caller, until none is left. After an error it appends nothing, and lets
// all go.
func (l *Log) serve(waiting <-chan chan struct{}) (err error) {
	var group []chan struct{}
	for first := range waiting {
		group = append(group[:0], first)
		for range len(waiting) {
			group = append(group, <-waiting)
		}
		if err == nil {
			err = l.Append(len(group))
		}
		for _, caller := range group {
			caller <- struct{}{}
		}
	}
	return err
}
