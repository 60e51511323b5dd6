package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
