package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/sqlite"
)

// BenchmarkTimeline measures what a task with ten thousand attempts costs to look at. The probe is a task
// with as many attempts as a timeline has lines.
func BenchmarkTimeline(b *testing.B) {
	const many, few = 10_000, task.TimelineLines
	short, long := withAttempts(b, few), withAttempts(b, many)
	for _, c := range []struct{ name, method, params string }{
		{"of=14-lines", "get_timeline", `{"task_id":"tsk_1"}`},
		{"of=200-lines", "get_timeline", `{"task_id":"tsk_1","max_lines":200}`},
		{"of=task", "get_task", `{"task_id":"tsk_1"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := 0
			pair(b, short, long, "14-attempts", func(h *host) {
				size = len(h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, c.params)))
			})
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

// withAttempts serves a store that has one task with so many attempts, of which all but the last failed.
func withAttempts(b *testing.B, n int) *host {
	root := b.TempDir()
	path := filepath.Join(root, "store.db")
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	require.NoError(b, err)
	require.NoError(b, s.Update(context.Background(), func(tx store.Tx) error {
		chain, err := task.NewChain([]task.Model{{Provider: "acme", ID: "large"}})
		if err != nil {
			return err
		}
		t, effects := task.Create("tsk_1", "att_1", 1, task.Spec{Prompt: content, Chain: chain, MaxAttempts: n}, 0, 1)
		for i := 1; ; i++ {
			if err := keep(tx, t, effects); err != nil || i == n {
				return err
			}
			if t, effects, err = failedOnce(t, i); err != nil {
				return err
			}
		}
	}))
	require.NoError(b, s.Close())
	cmd := waybill(root, root)
	cmd.Args = append(cmd.Args, "--store", path)
	h := connected(b, cmd)
	h.call(b, `{"jsonrpc":"2.0","id":1,"method":"get_task","params":{"task_id":"tsk_1"}}`)
	return h
}

// failedOnce lets the newest attempt of a task be claimed and fail, which makes it the i-th that did.
func failedOnce(t task.Task, i int) (task.Task, []core.Effect, error) {
	at, token := core.Instant(i)*1_000_000, fmt.Sprintf("lease_%d", i)
	t, begun, err := t.Step(task.Claim{At: at, Worker: "bench", Token: token, Length: 60_000_000})
	if err != nil {
		return t, nil, err
	}
	t, over, err := t.Step(task.Finish{
		At: at + 900_000, Token: token, Status: task.AttemptError, Mode: task.RetrySame,
		Failure: task.Failure{Class: task.ClassTransient, HTTP: 503, Message: "503 Service Unavailable: the model is overloaded, try again later"},
		Next:    task.Successor{AttemptID: fmt.Sprintf("att_%d", i+1)},
	})
	return t, append(begun, over...), err
}

// keep puts what a task became, without its events.
func keep(tx store.Tx, t task.Task, effects []core.Effect) error {
	if err := tx.PutTask(t); err != nil {
		return err
	}
	for _, effect := range effects {
		if e, ok := effect.(task.Keep); ok {
			if err := tx.PutAttempt(e.Attempt); err != nil {
				return err
			}
		}
	}
	return nil
}
