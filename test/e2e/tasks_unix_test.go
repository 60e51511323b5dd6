//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A worker dies with a lease in its hand. Its task goes on as the second attempt, in another process, and
// what the dead one's host still says about it changes nothing.
func TestKilledWorkerLosesItsTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.serve(t), w.serve(t)
	id := first.gets("task_id", "create_task", `{"prompt":"Dig the bed.","max_attempts":2}`)
	var lost schema.ClaimTaskResult
	first.must("claim_task", `{"worker":"first","lease_ms":1000}`, &lost)
	require.NotNil(t, lost.Claim)
	require.NoError(t, first.cmd.Process.Kill())
	_ = first.cmd.Wait() // it says "killed", which is no news

	won := second.claim()
	require.Equal(t, id, won.Task.TaskID)
	require.Equal(t, 2, won.Attempt.AttemptNumber)
	require.Equal(t, 2, won.Lease.Epoch)
	require.NotEqual(t, lost.Claim.Lease.Token, won.Lease.Token)

	// The host of the dead process speaks up, through a new one.
	late := w.serve(t)
	var answer schema.FinishAttemptResult
	late.must("finish_attempt", report(*lost.Claim, `"status":"completed","output":"late"`), &answer)
	require.False(t, answer.Applied)
	require.Equal(t, "stale_attempt", answer.Reason)
	require.Equal(t, "RUNNING", answer.Task.Status)
	second.finish(won, `"status":"completed","output":"in time"`)

	var is schema.TaskDetail
	late.must("get_task", fmt.Sprintf(`{"task_id":%q}`, id), &is)
	require.Equal(t, "COMPLETE", is.Task.Status)
	require.Equal(t, "in time", is.Task.Output)
	require.Len(t, is.Attempts, 2)
	require.Equal(t, "lost", is.Attempts[0].Status)
	require.Equal(t, 1, is.Attempts[0].StaleEvents)
	require.Equal(t, "completed", is.Attempts[1].Status)
	require.Equal(t, "host", is.Attempts[1].Worker)
}

// A callerGroup is the callers of one process, and what they have claimed.
type callerGroup struct {
	*switchboard
	name string

	claimed sync.Map // task id -> the number of the attempt
	twice   sync.Map // task id of those that were claimed again
}

// ask makes a call that is to succeed.
func (c *callerGroup) ask(method, params string, v any) error {
	r, ok := c.call(method, params)
	switch {
	case !ok:
		return errors.New("the process has gone")
	case r.Error != nil:
		return fmt.Errorf("%s: %+v", method, *r.Error)
	}
	return json.Unmarshal(r.Result, v)
}

// work claims and finishes tasks until there are none.
func (c *callerGroup) work() error {
	for {
		var got schema.ClaimTaskResult
		if err := c.ask("claim_task", fmt.Sprintf(`{"worker":%q}`, c.name), &got); err != nil || got.Claim == nil {
			return err
		}
		id := got.Claim.Task.TaskID
		if _, before := c.claimed.LoadOrStore(id, got.Claim.Attempt.AttemptNumber); before {
			c.twice.Store(id, true)
		}
		var done schema.FinishAttemptResult
		if err := c.ask("finish_attempt", report(*got.Claim, `"status":"completed"`), &done); err != nil {
			return err
		}
		if !done.Applied || done.Task.Status != "COMPLETE" {
			return fmt.Errorf("finishing %s: %+v", id, done)
		}
	}
}

// Two processes of eight callers each empty one queue, and every task is claimed once.
func TestTwoProcessesClaimEveryTaskOnce(t *testing.T) {
	t.Parallel()
	const tasks, callers = 200, 8
	w := newWorld(t)
	var in strings.Builder
	for i := range tasks {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"create_task","params":{"prompt":"task %d"}}`+"\n", i, i)
	}
	require.Equal(t, tasks, strings.Count(w.pipe(t, in.String()), `"result":`))

	var groups [2]*callerGroup
	var wg sync.WaitGroup
	var failed [2 * callers]error
	for i := range groups {
		p := w.serve(t)
		groups[i] = &callerGroup{switchboard: p.share(), name: fmt.Sprintf("callerGroup-%d", i)}
		for j := range callers {
			wg.Go(func() { failed[i*callers+j] = groups[i].work() }) // ends when the queue is empty
		}
	}
	wg.Wait()
	require.NoError(t, errors.Join(failed[:]...))

	all := map[string]string{} // task id -> who claimed it
	for _, c := range groups {
		c.twice.Range(func(id, _ any) bool { t.Errorf("%s was claimed twice by %s", id, c.name); return true })
		c.claimed.Range(func(id, number any) bool {
			require.Equal(t, 1, number, "%s", id)
			require.NotContains(t, all, id, "claimed by both")
			all[id.(string)] = c.name
			return true
		})
	}
	require.Len(t, all, tasks)
	answered := w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"list_tasks","params":{"limit":500,"status":"COMPLETE"}}`)
	_, page, found := strings.Cut(answered, `"id":1,`)
	require.True(t, found)
	require.Equal(t, tasks, strings.Count(page, `"completed_at":`), "%.300s", page)
}
