package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/mcp"
	"waybill/mcp/supervise"
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

// Each row is a story of the lease of a task that a model has claimed.
//
//	sleep DURATION    time passes; in a rest, no renewal is sent
//	alive DURATION    time passes, and the host asks for something every 10 minutes
//	form              the model asks a person, who takes an hour
//	beats N           asserts the number of renewals
//	store full|back   lets renewals fail or succeed
//	look              the model names the task in a call
//	finish, lose      finishes the attempt as the model, or elsewhere
//	late              asserts that it is too late to finish the attempt
//	stop              ends the server
//	is STATUS, free   asserts the status of the task, and that another worker can claim it
func TestLeases(t *testing.T) {
	for name, story := range map[string]string{
		"it is renewed while the model works, and not when it is finished":  "sleep 19s; beats 0; sleep 2s; beats 1; alive 30m; is RUNNING; finish; rest 10m",
		"it ends an hour after the last call that names the task":           "alive 50m; look; alive 50m; is RUNNING; alive 12m; free",
		"it ends with the server":                                           "sleep 10m; is RUNNING; stop; sleep 61s; free; late",
		"it ends when a daemon holds the connection of a host that is gone": "sleep 14m; is RUNNING; sleep 3m; free; late; rest 1h",
		"it is renewed while a person fills in a form":                      "form; sleep 50m; is RUNNING; finish",
		"a disk that is full for half a minute does not cost it":            "store full; sleep 50s; store back; sleep 5m; is RUNNING",
		"it is not renewed when it is lost":                                 "lose; sleep 1h; beats 1",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playLease(t, story) })
		})
	}
}

func playLease(t *testing.T, story string) {
	var full atomic.Bool
	h := newHarness(t, setup{asleep: true, methods: map[string]func(startFunc) startFunc{"heartbeat": func(start startFunc) startFunc {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			if full.Load() {
				done(api.Answer{Err: schema.NewError(schema.StoreFull, "the disk is full")})
				return
			}
			start(ctx, params, done)
		}
	}}})
	g := h.connect(legacy, clientWithPerson(t, func() (*sdk.ElicitResult, error) {
		time.Sleep(time.Hour - time.Second)
		return &sdk.ElicitResult{Action: "decline"}, nil
	}))
	id, token := g.claimTask()
	const finish = `{"task_id":%q,"lease_token":%q,"status":"completed"}`
	for step := range strings.SplitSeq(story, "; ") {
		verb, word, _ := strings.Cut(step, " ")
		length, _ := time.ParseDuration(word)
		switch before := h.beats.Load(); verb {
		case "sleep":
			sleepAndWait(length)
		case "alive":
			for ; length > 0; length -= 10 * time.Minute {
				require.NoError(t, g.Ping(context.Background(), nil))
				sleepAndWait(min(length, 10*time.Minute))
			}
		case "form":
			other := h.taskThatAsks("oak or elm?")
			go func() {
				_, _ = g.CallTool(context.Background(), &sdk.CallToolParams{Name: "reply", Arguments: map[string]any{"task_id": other}})
			}() // ends with the form
		case "rest":
			sleepAndWait(length)
			require.Equal(t, before, h.beats.Load(), step)
		case "beats":
			require.Equal(t, word, fmt.Sprint(before), step)
		case "store":
			full.Store(word == "full")
		case "look":
			g.callTool("get_task", `{"task_id":%q}`, id)
		case "finish":
			done, _ := g.callTool("finish_attempt", finish, id, token)
			require.Equal(t, true, done["applied"])
		case "lose", "late":
			require.Equal(t, verb == "lose", h.call("finish_attempt", finish, id, token)["applied"])
		case "stop":
			g.stop()
		case "is":
			require.Equal(t, word, h.status(id), step)
		case "free":
			require.Equal(t, id, h.call("claim_task", `{"worker":"other"}`).str("claim.task.task_id"))
		default:
			require.Fail(t, "no such step", step)
		}
	}
	require.Equal(t, strings.Contains(story, "full"), strings.Contains(h.log.String(), "a lease could not be renewed"))
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

func TestResultWithALeaseEndsTheRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{})
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
		require.Zero(t, h.beats.Load())
	})
}

var errGone = errors.New("the log is gone")

// The reason was kept until the connection ended, and then discarded.
func TestFailedNotifierIsLogged(t *testing.T) {
	h := newHarness(t, setup{notify: func(context.Context, func(string, any)) error { return errGone }})
	h.connect(modern, nil)
	require.Eventually(t, func() bool { return strings.Contains(h.log.String(), errGone.Error()) }, patience, time.Millisecond)
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
		p := servePipe(table)
		go func() { _, _ = io.Copy(io.Discard, p.out) }() // ends with the server
		p.send(inModern("1", "tools/call", tool("claim_task", "")))
		<-begun
		p.send(note("notifications/cancelled", `"requestId":1`))
		synctest.Wait()
		close(answer)
		sleepAndWait(10 * time.Minute)
		require.NoError(t, p.in.Close())
		require.Zero(t, <-p.exit)
		require.EqualValues(t, 1, givenBack.Load())
		require.Zero(t, beats.Load())
	})
}

// supervised serves a host with a supervisor, and returns the lines that the supervisor gets. The host sends the line.
func supervised(line string) (*pipe, *bufio.Reader) {
	table := api.NewTable([]api.Entry{{
		Method: schema.Method{Name: "claim_task", Kind: schema.Change},
		Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Result: &schema.ClaimTaskResult{Claim: &schema.Claim{Task: schema.Task{TaskID: "tsk_1"}, Lease: schema.Lease{Token: "x"}}}})
		},
	}, {
		Method: schema.Method{Name: "heartbeat", Kind: schema.Change},
		Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Result: &schema.HeartbeatResult{Applied: true}})
		},
	}})
	p := servePipe(table, func(o *mcp.Options) { o.Supervised = true })
	p.send(line)
	return p, bufio.NewReader(p.out)
}

func claimed() (*pipe, *bufio.Reader) {
	return supervised(inModern("1", "tools/call", tool("claim_task", "")))
}

// The process died between the two lines, the host was told that the outcome is unknown, and the next process renewed a
// lease whose token nobody had.
func TestLeaseIsHandedOverAfterTheAnswerWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, lines := claimed()
		for _, want := range []string{`"id":1,"result"`, supervise.StateMethod} {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, line, want)
			require.Contains(t, line, `"x"`)
		}
		require.NoError(t, p.in.Close())
		require.Zero(t, <-p.exit)
	})
}

// The next process would renew it again.
func TestLeaseThatASilentHostHasLostIsNotHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, lines := claimed()
		since := time.Now()
		for line := ""; !strings.Contains(line, `"leases":[]`); {
			var err error
			line, err = lines.ReadString('\n') // time passes
			require.NoError(t, err)
		}
		require.GreaterOrEqual(t, time.Since(since), 15*time.Minute)
		require.NoError(t, p.in.Close())
		require.Zero(t, <-p.exit)
	})
}

// A process that died every few minutes kept the lease of a silent host alive for ever: each next one counted from its start.
func TestDeathOfTheProcessDoesNotProlongALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		since := time.Now()
		p, lines := claimed()
		for processes := 1; ; processes++ {
			line, left := "", time.Now().Add(4*time.Minute)
			for time.Now().Before(left) && !strings.Contains(line, `"leases":[]`) {
				var err error
				line, err = lines.ReadString('\n') // time passes
				require.NoError(t, err)
			}
			require.NoError(t, p.in.Close())
			go func(rest io.Reader) { _, _ = io.Copy(io.Discard, rest) }(lines) // ends with the server
			require.Zero(t, <-p.exit)
			if strings.Contains(line, `"leases":[]`) {
				require.Greater(t, processes, 3)
				break
			}
			var state struct{ Params json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(line), &state))
			p, lines = supervised(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"deaths":%d,"left":%s}}`, supervise.StateMethod, processes, state.Params))
		}
		require.InDelta(t, 15*time.Minute, time.Since(since), float64(time.Minute))
	})
}
