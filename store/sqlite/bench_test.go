package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/sqlite"
)

// content is as long as the messages that the limits of this store are measured with.
var content = strings.Repeat("look at the failing test again ", 10)

func benchID(n int64) string { return fmt.Sprintf("ins_0192f0c1-7d3a-7abc-8def-%012d", n) }

// queueOne is what queueing an instruction costs the store.
func queueOne(tx store.Tx, n int64) error {
	in := instruction.Instruction{
		ID: benchID(n), Session: "default", Content: content, Tracked: true, MaxRetries: 3,
		CreatedAt: core.Instant(n), Position: n, Phase: instruction.Queued{},
	}
	if err := tx.PutInstruction(in); err != nil {
		return err
	}
	_, err := tx.Append(store.Event{Type: core.InstructionQueued, Subject: in.ID, At: core.Instant(n), Data: eventData})
	return err
}

const eventData = `{"session_id":"default","state":"queued","sends":0,"sends_max":4}`

// acknowledgeOne is what acknowledging one costs it.
func acknowledgeOne(tx store.Tx, n int64) error {
	in, _, err := tx.Instruction(benchID(n))
	if err != nil {
		return err
	}
	in.Phase = instruction.Acknowledged{At: core.Instant(n), By: instruction.ByCall}
	if err := tx.PutInstruction(in); err != nil {
		return err
	}
	_, err = tx.Append(store.Event{Type: core.InstructionAcknowledged, Subject: in.ID, At: core.Instant(n), Data: eventData})
	return err
}

// BenchmarkChanges measures durable changes, half of them queueing and half acknowledging, by how many
// share one Update. Beside the figures of the store stands what the disk gives in the same run: the
// same number of synced appends to a plain file.
func BenchmarkChanges(b *testing.B) {
	for _, each := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("per-update=%d", each), func(b *testing.B) { benchmarkChanges(b, each) })
	}
}

func benchmarkChanges(b *testing.B, each int) {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "store.db")})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	next := int64(0)
	change := func(change func(tx store.Tx, n int64) error, from, to int64) {
		require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error {
			for n := from; n < to; n++ {
				if err := change(tx, n); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	disk := probe(b, each)
	b.ReportAllocs()
	updates := 0
	for b.Loop() {
		from := next + 1
		next += int64(each)
		change(queueOne, from, next+1)
		change(acknowledgeOne, from, next+1)
		updates += 2
	}
	perUpdate := b.Elapsed() / time.Duration(updates)
	disk = (disk + probe(b, each)) / 2
	b.ReportMetric(float64(each)*float64(time.Second)/float64(perUpdate), "changes/s")
	b.ReportMetric(float64(perUpdate.Microseconds()), "µs/update")
	b.ReportMetric(float64(disk.Microseconds()), "µs/disk")
	b.ReportMetric(float64(disk)/float64(perUpdate), "of-disk")
}

// probe measures an append of that many records of 350 bytes with a sync.
func probe(b *testing.B, each int) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	defer func() { require.NoError(b, f.Close()) }()
	const rounds = 200
	data := make([]byte, 350*each)
	begun := time.Now()
	for range rounds {
		_, err := f.Write(data)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
	}
	return time.Since(begun) / rounds
}

// BenchmarkStatements measures what the verbs cost without their share of a commit.
func BenchmarkStatements(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "store.db")})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	next := int64(0)
	verbs := []struct {
		name string
		verb func(tx store.Tx, n int64) error
	}{{"queue", queueOne}, {"acknowledge", acknowledgeOne}}
	for _, v := range verbs {
		b.Run(v.name, func(b *testing.B) {
			b.ReportAllocs()
			require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error {
				if v.name == "acknowledge" {
					for n := next + 1; n <= next+int64(b.N); n++ {
						if err := queueOne(tx, n); err != nil {
							return err
						}
					}
				}
				b.ResetTimer()
				for n := next + 1; n <= next+int64(b.N); n++ {
					if err := v.verb(tx, n); err != nil {
						return err
					}
				}
				b.StopTimer()
				return nil
			}))
			next += int64(b.N)
		})
	}
}

// BenchmarkPages measures pages of a few rows, as most calls ask for them.
func BenchmarkPages(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "store.db")})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	update(b, s, func(tx store.Tx) error { return fillTen(tx, 1) })
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, s.View(b.Context(), readPages))
	}
}

func readPages(tx store.Tx) error {
	_, err := tx.Instructions(store.InstructionQuery{Session: "default", State: instruction.StateQueued, Limit: 3})
	_, ofOne := tx.EventsOf(benchID(3), 0, 3)
	_, notices := tx.Notices("", 0, 3)
	return errors.Join(err, ofOne, notices)
}

func BenchmarkView(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "store.db")})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error { return queueOne(tx, 1) }))
	b.ReportAllocs()
	for b.Loop() {
		err := s.View(b.Context(), func(tx store.Tx) error {
			_, _, err := tx.Instruction(benchID(1))
			return err
		})
		require.NoError(b, err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	open := func() *sqlite.Store {
		s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
		require.NoError(b, err)
		return s
	}
	s := open()
	require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error {
		for n := range int64(10_000) {
			if err := queueOne(tx, n+1); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(b, s.Close())
	var opening time.Duration
	for b.Loop() {
		begun := time.Now()
		s := open()
		opening += time.Since(begun)
		require.NoError(b, s.Close())
	}
	b.ReportMetric(float64(opening.Microseconds())/float64(b.N), "µs/open")
}

// BenchmarkProcesses measures how fairly processes that write without a pause share a store, one
// record an Update, and what they get done together. The longest wait is that of one more process
// that writes now and then.
func BenchmarkProcesses(b *testing.B) {
	for _, processes := range []int{1, 2, 4} {
		b.Run(strconv.Itoa(processes), func(b *testing.B) { benchmarkProcesses(b, processes) })
	}
}

func benchmarkProcesses(b *testing.B, processes int) {
	path := path(b)
	s := open(b, sqlite.Options{Path: path})
	writers := make([]lineCounter, processes)
	for i := range writers {
		cmd := command(b, "append", path)
		cmd.Stdout = &writers[i]
		require.NoError(b, cmd.Start())
		defer func() {
			require.NoError(b, cmd.Process.Kill())
			_ = cmd.Wait()
		}()
	}
	for i := range writers {
		for writers[i].lines.Load() == 0 {
			require.NoError(b, s.Update(b.Context(), appendOne))
		}
	}
	before := counts(writers)
	now, worst := before, time.Duration(0)
	b.ResetTimer()
	for sum(now)-sum(before) < int64(b.N) {
		begun := time.Now()
		require.NoError(b, s.Update(b.Context(), appendOne))
		worst = max(worst, time.Since(begun))
		<-time.After(5 * time.Millisecond) // the pace of the one more process
		now = counts(writers)
	}
	b.StopTimer()
	for i := range now {
		now[i] -= before[i]
	}
	b.ReportMetric(float64(slices.Min(now))/float64(slices.Max(now)), "slowest/fastest")
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms-longest-wait")
	b.ReportMetric(float64(sum(now))/b.Elapsed().Seconds(), "updates/s")
}

func counts(writers []lineCounter) []int64 {
	all := make([]int64, len(writers))
	for i := range writers {
		all[i] = writers[i].lines.Load()
	}
	return all
}

func sum(all []int64) (total int64) {
	for _, n := range all {
		total += n
	}
	return total
}

// lineCounter counts the lines written to it.
type lineCounter struct{ lines atomic.Int64 }

func (c *lineCounter) Write(text []byte) (int, error) {
	c.lines.Add(int64(bytes.Count(text, []byte{'\n'})))
	return len(text), nil
}
