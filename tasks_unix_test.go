//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A claim is the result of claim_task, as far as the tests look at it.
type claim struct {
	Claim *struct {
		Task struct {
			ID     string `json:"task_id"`
			Prompt string `json:"prompt"`
		} `json:"task"`
		Attempt struct {
			ID     string `json:"attempt_id"`
			Number int    `json:"attempt_number"`
		} `json:"attempt"`
		Lease struct {
			Token string `json:"token"`
			Epoch int    `json:"epoch"`
		} `json:"lease"`
	} `json:"claim"`
}

// A finish is the result of finish_attempt, as far as the tests look at it.
type finish struct {
	Applied bool   `json:"applied"`
	Reason  string `json:"reason"`
	Task    struct {
		Status string `json:"status"`
		Number int    `json:"attempt_number"`
	} `json:"task"`
}

// A detail is the result of get_task, as far as the tests look at it.
type detail struct {
	Task     struct{ Status, Output string } `json:"task"`
	Attempts []struct {
		Status string `json:"status"`
		Stale  int    `json:"stale_events"`
		Worker string `json:"worker"`
	} `json:"attempts"`
}

// A worker dies with a lease in its hand. Its task goes on as the second attempt, in another process, and
// what the dead one's host still says about it changes nothing.
func TestKilledWorkerLosesItsTask(t *testing.T) {
	w := newWorld(t)
	first, second := w.serve(t), w.serve(t)
	var created struct {
		Task struct {
			ID string `json:"task_id"`
		} `json:"task"`
	}
	first.must("create_task", `{"prompt":"Dig the bed.","max_attempts":2}`, &created)
	id := created.Task.ID
	var lost, won claim
	first.must("claim_task", `{"worker":"first","lease_ms":1000}`, &lost)
	require.NotNil(t, lost.Claim)
	require.NoError(t, first.cmd.Process.Kill())
	_ = first.cmd.Wait() // it says "killed", which is no news

	second.must("claim_task", `{"worker":"second","wait_ms":25000}`, &won)
	require.NotNil(t, won.Claim, "the lease has run out, and nobody got the task")
	require.Equal(t, id, won.Claim.Task.ID)
	require.Equal(t, 2, won.Claim.Attempt.Number)
	require.Equal(t, 2, won.Claim.Lease.Epoch)
	require.NotEqual(t, lost.Claim.Lease.Token, won.Claim.Lease.Token)

	// The host of the dead process speaks up, through a new one.
	late := w.serve(t)
	report := `{"task_id":%q,"lease_token":%q,"status":"completed","output":%q}`
	var answer finish
	late.must("finish_attempt", fmt.Sprintf(report, id, lost.Claim.Lease.Token, "late"), &answer)
	require.False(t, answer.Applied)
	require.Equal(t, "stale_attempt", answer.Reason)
	require.Equal(t, "RUNNING", answer.Task.Status)
	second.must("finish_attempt", fmt.Sprintf(report, id, won.Claim.Lease.Token, "in time"), &answer)
	require.True(t, answer.Applied)

	var is detail
	late.must("get_task", fmt.Sprintf(`{"task_id":%q}`, id), &is)
	require.Equal(t, "COMPLETE", is.Task.Status)
	require.Equal(t, "in time", is.Task.Output)
	require.Len(t, is.Attempts, 2)
	require.Equal(t, "lost", is.Attempts[0].Status)
	require.Equal(t, 1, is.Attempts[0].Stale)
	require.Equal(t, "completed", is.Attempts[1].Status)
	require.Equal(t, "second", is.Attempts[1].Worker)
}

// A crew is the callers of one process, and what they have claimed.
type crew struct {
	*switchboard
	name string

	claimed sync.Map // task id -> the number of the attempt
	twice   sync.Map // task id of those that were claimed again
}

// ask makes a call that is to succeed.
func (c *crew) ask(method, params string, v any) error {
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
func (c *crew) work() error {
	for {
		var got claim
		if err := c.ask("claim_task", fmt.Sprintf(`{"worker":%q}`, c.name), &got); err != nil || got.Claim == nil {
			return err
		}
		id := got.Claim.Task.ID
		if _, before := c.claimed.LoadOrStore(id, got.Claim.Attempt.Number); before {
			c.twice.Store(id, true)
		}
		var done finish
		if err := c.ask("finish_attempt", fmt.Sprintf(`{"task_id":%q,"lease_token":%q,"status":"completed","output":%q}`,
			id, got.Claim.Lease.Token, got.Claim.Task.Prompt), &done); err != nil {
			return err
		}
		if !done.Applied || done.Task.Status != "COMPLETE" {
			return fmt.Errorf("finishing %s: %+v", id, done)
		}
	}
}

// Two processes of eight callers each empty one queue, and every task is claimed once.
func TestTwoProcessesClaimEveryTaskOnce(t *testing.T) {
	const tasks, callers = 200, 8
	w := newWorld(t)
	var in strings.Builder
	for i := range tasks {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"create_task","params":{"prompt":"task %d"}}`+"\n", i, i)
	}
	require.Equal(t, tasks, strings.Count(w.pipe(t, in.String()), `"result":`))

	var crews [2]*crew
	var wg sync.WaitGroup
	var failed [2 * callers]error
	for i := range crews {
		p := w.serve(t)
		crews[i] = &crew{switchboard: p.share(), name: fmt.Sprintf("crew-%d", i)}
		for j := range callers {
			wg.Go(func() { failed[i*callers+j] = crews[i].work() }) // ends when the queue is empty
		}
	}
	wg.Wait()
	require.NoError(t, errors.Join(failed[:]...))

	all := map[string]string{} // task id -> who claimed it
	for _, c := range crews {
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
	require.Equal(t, tasks, strings.Count(page, `"completed_at":`))
}
