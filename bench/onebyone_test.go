package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/sqlite"
)

// content is what the instructions of the benchmarks say; with its id and the rest, a record of one is
// about as long as one of the probe.
var content = strings.Repeat("look at the failing test again ", 7)

// A oneByOne queues and acknowledges instructions, each of both in a transaction of its own. Its
// methods may be called from any goroutine.
type oneByOne interface {
	queue(n int64) error
	acknowledge(n int64) error
}

// changes lets so many callers share n changes, half of them queueing and half acknowledging, and returns
// the rate.
func changes(b *testing.B, s oneByOne, last *atomic.Int64, callers, n int) float64 {
	start := time.Now()
	var working sync.WaitGroup
	for range callers {
		working.Go(func() { // ends when its share is done
			for range n / callers / 2 {
				id := last.Add(1)
				if err := s.queue(id); err != nil {
					b.Error(err)
				}
				if err := s.acknowledge(id); err != nil {
					b.Error(err)
				}
			}
		})
	}
	working.Wait()
	return rate(n, time.Since(start))
}

// bare is SQLite driven as one would drive it by hand: durable, one connection, prepared statements.
type bare struct{ insert, update *sql.Stmt }

func newBare(b *testing.B, dir string) bare {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "bare.db"))+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_txlock=immediate")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	db.SetMaxOpenConns(1) // with more, the callers would wait for each other inside SQLite, which takes longer
	_, err = db.Exec("CREATE TABLE instructions (id TEXT PRIMARY KEY, content TEXT NOT NULL, state TEXT NOT NULL)")
	require.NoError(b, err)
	insert, err := db.Prepare("INSERT INTO instructions (id, content, state) VALUES (?, ?, 'queued')")
	require.NoError(b, err)
	update, err := db.Prepare("UPDATE instructions SET state = 'acknowledged' WHERE id = ?")
	require.NoError(b, err)
	return bare{insert, update}
}

func (s bare) queue(n int64) error {
	_, err := s.insert.Exec(instructionID(n), content)
	return err
}

func (s bare) acknowledge(n int64) error {
	_, err := s.update.Exec(instructionID(n))
	return err
}

func instructionID(n int64) string { return fmt.Sprintf("ins_0192f0c1-7d3a-7abc-8def-%012d", n) }

// ungrouped is the store of waybill without the engine that lets changes share a commit.
type ungrouped struct{ store *sqlite.Store }

func newUngrouped(b *testing.B, dir string) ungrouped {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(dir, "ungrouped.db")})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	return ungrouped{s}
}

func (s ungrouped) queue(n int64) error {
	return s.store.Update(context.Background(), func(tx store.Tx) error {
		_, newest, err := tx.Bounds()
		if err != nil {
			return err
		}
		in := instruction.Instruction{
			ID: instructionID(n), Session: "default", Content: content, Tracked: true, MaxRetries: 3,
			CreatedAt: core.Instant(n), Position: newest + 1, Phase: instruction.Queued{},
		}
		if err := tx.PutInstruction(in); err != nil {
			return err
		}
		_, err = tx.Append(store.Event{Type: core.InstructionQueued, Subject: in.ID, At: in.CreatedAt, Data: eventData})
		return err
	})
}

const eventData = `{"session_id":"default","state":"queued","sends":0,"sends_max":4}`

func (s ungrouped) acknowledge(n int64) error {
	return s.store.Update(context.Background(), func(tx store.Tx) error {
		in, _, err := tx.Instruction(instructionID(n))
		if err != nil {
			return err
		}
		in.Phase = instruction.Acknowledged{At: core.Instant(n), By: instruction.ByCall}
		if err := tx.PutInstruction(in); err != nil {
			return err
		}
		_, err = tx.Append(store.Event{Type: core.InstructionAcknowledged, Subject: in.ID, At: core.Instant(n), Data: eventData})
		return err
	})
}
