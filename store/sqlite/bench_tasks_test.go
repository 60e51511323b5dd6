package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

const taskData = `{"task_id":"tsk_0192f0c1-7d3a-7abc-8def-000000000001","status":"RUNNING","attempt_number":1}`

// BenchmarkClaimAndFinish measures the two changes that every task goes through, with their records in the
// event log, by how many tasks share one Update. Tasks that have ended lie around in any number.
func BenchmarkClaimAndFinish(b *testing.B) {
	for _, each := range []int{1, 64} {
		b.Run(fmt.Sprintf("per-update=%d", each), func(b *testing.B) { benchmarkClaims(b, each) })
	}
}

func benchmarkClaims(b *testing.B, each int) {
	s := crowdedStore(b, 20_000)
	made, claimed := int64(20_000), 0
	next := func(change func(tx store.Tx) error) {
		require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error {
			for range each {
				if err := change(tx); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	disk := probe(b, each)
	b.ReportAllocs()
	var running []task.Task
	for b.Loop() {
		b.StopTimer()
		next(func(tx store.Tx) error { made++; return createTask(tx, made) })
		running = running[:0]
		b.StartTimer()
		next(func(tx store.Tx) error {
			claimed++
			t, err := claimOldest(tx, fmt.Sprint("bench ", claimed), core.Instant(made))
			running = append(running, t)
			return orRecord(tx, err, core.AttemptStarted, t.ID)
		})
		next(func(tx store.Tx) error {
			t := running[0]
			running = running[1:]
			_, err := finishUnder(tx, t.Current.Token(), core.Instant(made))
			return orRecord(tx, err, core.AttemptFinished, t.ID)
		})
	}
	perUpdate := b.Elapsed() / time.Duration(2*b.N)
	disk = (disk + probe(b, each)) / 2
	b.ReportMetric(float64(each)*float64(time.Second)/float64(perUpdate), "changes/s")
	b.ReportMetric(float64(perUpdate.Microseconds()), "µs/update")
	b.ReportMetric(float64(disk.Microseconds()), "µs/disk")
}

func orRecord(tx store.Tx, err error, kind core.EventType, subject string) error {
	if err != nil {
		return err
	}
	_, err = tx.Append(store.Event{Type: kind, Subject: subject, At: 1, Data: taskData})
	return err
}

// finishUnder completes the task whose newest attempt has the token.
func finishUnder(tx store.Tx, token string, at core.Instant) (task.Task, error) {
	a, _, err := tx.AttemptUnder(token)
	if err != nil {
		return task.Task{}, err
	}
	t, _, err := tx.Task(a.TaskID)
	if err != nil {
		return t, err
	}
	return stepTask(tx, t, task.Finish{At: at, Token: token, Status: task.AttemptCompleted, Output: content})
}

// crowdedStore returns a store of that many tasks. One in a hundred has an error, and the others are complete.
func crowdedStore(b *testing.B, tasks int64) *sqlite.Store {
	b.Helper()
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "store.db")})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	failed := task.Failure{Class: task.ClassTerminal, Message: "no"}
	for from := int64(1); from <= tasks; from += 1000 {
		require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error {
			for n := from; n < from+1000; n++ {
				end := finishOf(n)
				if n%100 == 0 {
					end.Status, end.Failure = task.AttemptError, failed
				}
				if err := createTask(tx, n); err != nil {
					return err
				}
				if err := happen(tx, n, claimOf(n), end); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return s
}

// BenchmarkHeartbeat measures what a sign of life costs without its share of a commit.
func BenchmarkHeartbeat(b *testing.B) {
	s := crowdedStore(b, 1000)
	require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error { return createTask(tx, 1001) }))
	require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error { return happen(tx, 1001, claimOf(1001)) }))
	b.ReportAllocs()
	at := core.Instant(1001)
	require.NoError(b, s.Update(b.Context(), func(tx store.Tx) error {
		for b.Loop() {
			at++
			a, _, err := tx.AttemptUnder("tok_1001")
			if err != nil {
				return err
			}
			p := a.Phase.(task.RunningAttempt)
			p.Lease.ExpiresAt = at
			a.Phase = p
			if err := tx.PutAttempt(a); err != nil {
				return err
			}
		}
		return nil
	}))
}

// BenchmarkTaskPages measures a page of fifty of a hundred thousand tasks, from their middle.
func BenchmarkTaskPages(b *testing.B) {
	const tasks = 100_000
	s := crowdedStore(b, tasks)
	for name, q := range map[string]store.TaskQuery{
		"all": {}, "error": {Status: task.StatusError}, "live": {Live: true}, "parent": {Parent: "ses"},
		"newest": {Newest: true}, "parent-error": {Parent: "ses", Status: task.StatusError},
	} {
		q.After, q.Limit = tasks/2, 50
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, s.View(b.Context(), func(tx store.Tx) error {
					_, err := tx.Tasks(q)
					return err
				}))
			}
		})
	}
}
