package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// claimTask makes a task and claims it through the tools.
func (g *sdkClient) claimTask() (taskID, token string) {
	g.h.t.Helper()
	g.callTool("create_task", `{"prompt":"Paint it.","max_attempts":9}`)
	claim, _ := g.callTool("claim_task", `{}`)
	require.Equal(g.h.t, true, claim["claimed"])
	return claim.str("task_id"), claim.str("lease_token")
}

// sleepAndWait lets time pass in the bubble, and everything happen that is due.
func sleepAndWait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *harness) status(id string) string {
	h.t.Helper()
	return h.call("get_task", `{"task_id":%q}`, id).str("task.status")
}

// countCalls counts the calls of a method.
func countCalls(n *atomic.Int64) func(startFunc) startFunc {
	return func(start startFunc) startFunc {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			n.Add(1)
			start(ctx, params, done)
		}
	}
}

func TestLeaseIsRenewedWhileTheModelWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		h := newHarness(t, setup{methods: map[string]func(startFunc) startFunc{"heartbeat": countCalls(&beats)}})
		g := h.connect(modern, nil)
		id, token := g.claimTask()
		sleepAndWait(19 * time.Second)
		require.Zero(t, beats.Load())
		sleepAndWait(2 * time.Second)
		require.EqualValues(t, 1, beats.Load())
		sleepAndWait(30 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id))
		done, _ := g.callTool("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed","output":"painted"}`, id, token)
		require.Equal(t, true, done["applied"])
		before := beats.Load()
		sleepAndWait(10 * time.Minute)
		require.Equal(t, before, beats.Load(), "what is finished needs no lease")
	})
}

// A model that stops calling loses its task after an hour.
func TestLeaseExpiresAnHourAfterTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{})
		g := h.connect(modern, nil)
		id, _ := g.claimTask()
		sleepAndWait(50 * time.Minute)
		g.callTool("get_task", `{"task_id":%q}`, id)
		sleepAndWait(50 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id), "it was named within the hour")
		sleepAndWait(12 * time.Minute)
		other := h.call("claim_task", `{"worker":"other"}`)
		require.Equal(t, id, other.str("claim.task.task_id"))
	})
}

func TestLeaseExpiresWhenTheServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{asleep: true})
		ctx, stop := context.WithCancel(context.Background())
		gone := make(chan error, 1)
		go func() { gone <- h.server.Run(ctx) }() // ends with ctx
		id, token := h.connect(modern, nil).claimTask()
		sleepAndWait(10 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id))
		stop()
		require.NoError(t, <-gone)
		sleepAndWait(61 * time.Second)
		other := h.call("claim_task", `{"worker":"other"}`)
		require.Equal(t, id, other.str("claim.task.task_id"))
		late := h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, id, token)
		require.Equal(t, false, late["applied"])
	})
}

// A disk that is full for half a minute does not cost the lease.
func TestFailedRenewalIsRepeatedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		h := newHarness(t, setup{methods: map[string]func(startFunc) startFunc{"heartbeat": func(start startFunc) startFunc {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				if broken.Load() {
					done(api.Answer{Err: schema.NewError(schema.StoreFull, "the disk is full")})
					return
				}
				start(ctx, params, done)
			}
		}}})
		id, _ := h.connect(modern, nil).claimTask()
		broken.Store(true)
		sleepAndWait(50 * time.Second)
		broken.Store(false)
		sleepAndWait(5 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id))
		require.Contains(t, h.log.String(), "a lease could not be renewed")
	})
}

func TestModelLearnsThatItsTaskWasCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{})
		g := h.connect(modern, nil)
		id, token := g.claimTask()
		task, _ := g.callTool("get_task", `{"task_id":%q}`, id)
		require.NotContains(t, task, "withdrawn")
		h.call("cancel_task", `{"task_id":%q}`, id)
		sleepAndWait(21 * time.Second)
		task, text := g.callTool("get_task", `{"task_id":%q}`, id)
		require.Contains(t, task["withdrawn"], "finish_attempt with status cancelled")
		require.Contains(t, text[0], "withdrawn: ")
		done, _ := g.callTool("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"cancelled"}`, id, token)
		require.Equal(t, "CANCELLED", done["status"])
	})
}

func TestLostLeaseIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		h := newHarness(t, setup{methods: map[string]func(startFunc) startFunc{"heartbeat": countCalls(&beats)}})
		id, token := h.connect(modern, nil).claimTask()
		h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, id, token)
		sleepAndWait(time.Hour)
		require.EqualValues(t, 1, beats.Load())
	})
}

func TestResultWithALeaseEndsTheRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		h := newHarness(t, setup{methods: map[string]func(startFunc) startFunc{"heartbeat": countCalls(&beats)}})
		h.plan("tasks.md", clockPlan)
		g := h.connect(modern, nil)
		run, _ := g.callTool("init_run", `{"plan":"tasks.md","item_id":"2"}`)
		g.callTool("create_task", `{"prompt":"Make the hands.","run_id":%q,"role":"worker"}`, run["run_id"])
		claim, _ := g.callTool("claim_task", `{"run_id":%q}`, run["run_id"])
		got, _ := g.callTool("ingest_output", `{"run_id":%q,"role":"worker","task_id":%q,"lease_token":%q,"output":%s}`,
			run["run_id"], claim["task_id"], claim["lease_token"], quoted("role: worker\ntask_id: 2\nstatus: pass\ngit_range: a1..b2"))
		require.Equal(t, "pass", got["verdict"])
		require.Equal(t, "COMPLETE", got["task_status"])
		sleepAndWait(time.Hour)
		require.Zero(t, beats.Load())
	})
}

var errGone = errors.New("the log is gone")

func TestFailedNotifierIsLogged(t *testing.T) {
	h := newHarness(t, setup{asleep: true, notify: func(context.Context, func(string, any)) error { return errGone }})
	ctx, stop := context.WithCancel(context.Background())
	stop()
	require.ErrorIs(t, h.server.Run(ctx), errGone)
}

// The host has given up a call that then claims a task, and the store cannot take the claim back. Nobody works on the
// task, so no process may renew its lease.
func TestLeaseOfAnUndeliveredClaimIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats, givenBack atomic.Int64
		begun, answer := make(chan struct{}), make(chan struct{})
		table := api.NewTable([]api.Entry{{
			Method: schema.Method{Name: "claim_task", Kind: schema.Change},
			Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
				close(begun)
				<-answer
				claim := &schema.Claim{Task: schema.Task{TaskID: "tsk_1"}, Lease: schema.Lease{Token: "x"}}
				done(api.Answer{Result: &schema.ClaimTaskResult{Claim: claim}, Undelivered: func() { givenBack.Add(1) }})
			},
		}, {
			Method: schema.Method{Name: "heartbeat", Kind: schema.Change},
			Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
				beats.Add(1)
				done(api.Answer{Result: &schema.HeartbeatResult{Applied: true}})
			},
		}})
		in, out, exit := servePipe(table)
		go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
		_, _ = fmt.Fprintln(in, inModern("1", "tools/call", tool("claim_task", "")))
		<-begun
		_, _ = fmt.Fprintln(in, note("notifications/cancelled", `"requestId":1`))
		synctest.Wait()
		close(answer)
		sleepAndWait(10 * time.Minute)
		require.NoError(t, in.Close())
		require.Zero(t, <-exit)
		require.EqualValues(t, 1, givenBack.Load())
		require.Zero(t, beats.Load())
	})
}
