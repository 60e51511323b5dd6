package mcp_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// claimed makes a task and claims it through the tools.
func (g *guest) claimed() (taskID, token string) {
	g.h.t.Helper()
	g.use("create_task", `{"prompt":"Paint it.","max_attempts":9}`)
	claim, _ := g.use("claim_task", `{}`)
	require.Equal(g.h.t, true, claim["claimed"])
	return claim.str("task_id"), claim.str("lease_token")
}

// rest lets time pass in the bubble, and everything happen that is due.
func rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *house) status(id string) string {
	h.t.Helper()
	return h.do("get_task", `{"task_id":%q}`, id).str("task.status")
}

// counted counts the calls of a method.
func counted(n *atomic.Int64) func(starter) starter {
	return func(start starter) starter {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			n.Add(1)
			start(ctx, params, done)
		}
	}
}

func TestALeaseIsKeptWhileAModelWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		h := build(t, plot{methods: map[string]func(starter) starter{"heartbeat": counted(&beats)}})
		g := h.join(modern, nil)
		id, token := g.claimed()
		rest(19 * time.Second)
		require.Zero(t, beats.Load())
		rest(2 * time.Second)
		require.EqualValues(t, 1, beats.Load())
		rest(30 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id))
		done, _ := g.use("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed","output":"painted"}`, id, token)
		require.Equal(t, true, done["applied"])
		before := beats.Load()
		rest(10 * time.Minute)
		require.Equal(t, before, beats.Load(), "what is finished needs no lease")
	})
}

// A model that has lost interest says nothing. Its task goes to somebody else after an hour.
func TestALeaseRunsOutAnHourAfterTheLastCallThatNamedTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		g := h.join(modern, nil)
		id, _ := g.claimed()
		rest(50 * time.Minute)
		g.use("get_task", `{"task_id":%q}`, id)
		rest(50 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id), "it was named within the hour")
		rest(12 * time.Minute)
		other := h.do("claim_task", `{"worker":"other"}`)
		require.Equal(t, id, other.str("claim.task.task_id"))
	})
}

func TestALeaseRunsOutWhenTheServerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{asleep: true})
		ctx, stop := context.WithCancel(context.Background())
		gone := make(chan error, 1)
		go func() { gone <- h.server.Run(ctx) }() // ends with ctx
		id, token := h.join(modern, nil).claimed()
		rest(10 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id))
		stop()
		require.NoError(t, <-gone)
		rest(61 * time.Second)
		other := h.do("claim_task", `{"worker":"other"}`)
		require.Equal(t, id, other.str("claim.task.task_id"))
		late := h.do("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, id, token)
		require.Equal(t, false, late["applied"])
	})
}

// A disk that is full for half a minute costs nobody the task.
func TestALeaseIsRenewedAgainSoonAfterThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		h := build(t, plot{methods: map[string]func(starter) starter{"heartbeat": func(start starter) starter {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				if broken.Load() {
					done(api.Answer{Err: schema.NewError(schema.StoreFull, "the disk is full")})
					return
				}
				start(ctx, params, done)
			}
		}}})
		id, _ := h.join(modern, nil).claimed()
		broken.Store(true)
		rest(50 * time.Second)
		broken.Store(false)
		rest(5 * time.Minute)
		require.Equal(t, "RUNNING", h.status(id))
		require.Contains(t, h.log.String(), "a lease could not be renewed")
	})
}

func TestAModelIsToldThatItsTaskWasWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		g := h.join(modern, nil)
		id, token := g.claimed()
		task, _ := g.use("get_task", `{"task_id":%q}`, id)
		require.NotContains(t, task, "withdrawn")
		h.do("cancel_task", `{"task_id":%q}`, id)
		rest(21 * time.Second)
		task, text := g.use("get_task", `{"task_id":%q}`, id)
		require.Contains(t, task["withdrawn"], "finish_attempt with status cancelled")
		require.Contains(t, text[0], "withdrawn: ")
		done, _ := g.use("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"cancelled"}`, id, token)
		require.Equal(t, "CANCELLED", done["status"])
	})
}

func TestALeaseThatIsLostIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		h := build(t, plot{methods: map[string]func(starter) starter{"heartbeat": counted(&beats)}})
		id, token := h.join(modern, nil).claimed()
		h.do("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, id, token)
		rest(time.Hour)
		require.EqualValues(t, 1, beats.Load())
	})
}

func TestAResultWithALeaseEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		h := build(t, plot{methods: map[string]func(starter) starter{"heartbeat": counted(&beats)}})
		h.plan("tasks.md", clockPlan)
		g := h.join(modern, nil)
		run, _ := g.use("init_run", `{"plan":"tasks.md","item_id":"2"}`)
		g.use("create_task", `{"prompt":"Make the hands.","run_id":%q,"role":"worker"}`, run["run_id"])
		claim, _ := g.use("claim_task", `{"run_id":%q}`, run["run_id"])
		got, _ := g.use("ingest_output", `{"run_id":%q,"role":"worker","task_id":%q,"lease_token":%q,"output":%s}`,
			run["run_id"], claim["task_id"], claim["lease_token"], quoted("role: worker\ntask_id: 2\nstatus: pass\ngit_range: a1..b2"))
		require.Equal(t, "pass", got["verdict"])
		require.Equal(t, "COMPLETE", got["task_status"])
		rest(time.Hour)
		require.Zero(t, beats.Load())
	})
}

var errGone = errors.New("the log is gone")

func TestWhyNobodyIsToldOfChangesIsSaid(t *testing.T) {
	h := build(t, plot{asleep: true, notify: func(context.Context, func(string, any)) error { return errGone }})
	ctx, stop := context.WithCancel(context.Background())
	stop()
	require.ErrorIs(t, h.server.Run(ctx), errGone)
}
