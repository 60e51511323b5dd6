package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
)

// Each row is a story about leases in fake time.
func TestLeases(t *testing.T) {
	for name, script := range map[string]string{
		"a lease ends at its moment":                         "sleep 300ms; claim 1 10500ms; sleep 10499ms; lost 0; sleep 1ms; lost 1",
		"a claim ends expired leases before the first check": "poll 0; sleep 1s; checks off; claim 1 1s; sleep 1200ms; lost 0; poll 1; lost 1",
		"a heartbeat extends its lease":                      "claim 1 10s; " + strings.Repeat("sleep 9s; beat 10s; ", 10) + "beat 2s; sleep 1999ms; lost 0; sleep 1ms; lost 1; beat refused",
		"many leases end together":                           "claim 300 10s; sleep 10s; lost 300",

		// After a suspend, the wall clock jumps and the monotonic clock does not.
		"a suspended machine loses no attempt":                       "claim 100 1m; sleep 10s; clock 8h; sleep 59s; lost 0; sleep 5s; lost 100",
		"a claim is the first call after a suspend":                  "claim 100 1m; sleep 10s; clock 8h; poll 0; sleep 30s; lost 0",
		"a worker that comes back after a suspend keeps its attempt": "claim 1 1m; sleep 1s; clock 1h; sleep 30s; beat 1m; sleep 59s; lost 0",
		"a small clock step ends no short lease": "claim 20 3s; " +
			strings.Repeat("sleep 1s; beat 3s; sleep 1s; clock 2900ms; sleep 1s; beat 3s; sleep 1s; beat 3s; ", 3) + "lost 0",
		"extended long leases delay no short one": "claim 80 1h; sleep 1s; clock 2h; sleep 2s; claim 1 1s; sleep 2s; lost 1",
		"many extended leases hide no other":      "claim 500 1h; clock 55m; claim 20 10m; clock 2h; sleep 9m59s; lost 0; sleep 3s; lost 20; sleep 50m; lost 520",

		// The process is stopped and continued, so its next check is late.
		"a stopped process loses no attempt":                 "claim 100 1m; checks off; sleep 10m; checks on; lost 0; sleep 59s; lost 0; sleep 5s; lost 100",
		"a claim of a stopped process runs before its check": "claim 100 1m; checks off; sleep 10m; poll 0; checks on; lost 0",

		// After the clock was set back, no lease lasts longer than its length.
		"the clock is set back":                              "claim 20 1m; sleep 10s; clock -24h; sleep 30s; lost 0; sleep 35s; lost 20",
		"the clock is set back before a claim":               "claim 20 1m; sleep 10s; clock -24h; poll 0; sleep 30s; lost 0; sleep 35s; lost 20",
		"the clock is set back while the store fails":        "claim 1 1m; sleep 10s; clock -24h; store off; sleep 5s; store on; sleep 65s; lost 1",
		"the clock was ahead and was corrected":              "claim 20 1m; sleep 10s; clock 24h; sleep 5s; clock -24h; sleep 5s; claim 1 3s; sleep 4s; lost 1; sleep 1m; lost 21",
		"the clock is set back between two processes":        "poll 0; sleep 1s; checks off; start; claim 1 1m; exit; clock -24h; start; poll 0; sleep 62s; lost 1",
		"workers cannot report while the store is read-only": "claim 20 1m; sleep 10s; store off; sleep 10m; store on; sleep 59s; lost 0; sleep 2s; lost 20",

		// Another process claims, is the first to look, or takes over.
		"a lease of another process ends at its moment":              "poll 0; sleep 1s; start; claim 1 1m; exit; changed; sleep 59s; lost 0; sleep 1s; lost 1",
		"a process begins after a suspend, and the workers live":     "claim 20 1m; sleep 10s; checks off; clock 1h; start; poll 0; checks on; " + strings.Repeat("sleep 25s; beat 1m; ", 6) + "lost 0",
		"a process begins after a suspend, and the workers are dead": "claim 20 1m; sleep 10s; checks off; clock 1h; start; poll 0; checks on; sleep 150s; lost 20",
		"a lease outlives a crash by one length":                     "poll 0; sleep 1s; checks off; start; claim 1 1m; exit; sleep 10m; start; poll 0; sleep 59s; lost 0; sleep 1s; lost 1",
		"a lease ends at its moment if the next process starts soon": "poll 0; sleep 1s; checks off; start; claim 1 1m; exit; sleep 20s; start; poll 0; sleep 39s; lost 0; sleep 1s; lost 1",
		"short-lived processes end a lease": "poll 0; sleep 1s; checks off; start; claim 1 1m; exit; sleep 10m; start; poll 0; exit; sleep 59s; start; poll 0; exit; " +
			"sleep 2s; start; poll 1",
	} {
		t.Run(name, func(t *testing.T) {
			withLeaseHarness(t, func(_ *testing.T, h *leaseHarness) { h.play(script) })
		})
	}
}

// A default has its own clock: it needs no lease, survives the end of the process, and gives a person no more time than the
// question said.
func TestDefaultsAreTakenByTime(t *testing.T) {
	for name, script := range map[string]string{
		"a default is taken at its moment":                "ask 1 10m; sleep 9m59999ms; taken 0; sleep 1ms; taken 1",
		"the earlier one is taken first":                  "ask 2 10m; ask 1 1m; sleep 1m; taken 1; sleep 9m; taken 3",
		"a claim gets it although nothing looks":          "poll 0; checks off; start; ask 1 1m; sleep 2m; poll 1; taken 1",
		"no process ran when it was due":                  "poll 0; checks off; start; ask 1 1m; exit; sleep 1h; start; poll 1; taken 1",
		"many are due together":                           "ask 200 1m; sleep 1m; taken 200",
		"many, and the clock is set back":                 "ask 200 1h; sleep 1m; clock -24h; sleep 1m; sleep 59m; taken 0; sleep 2m; taken 200",
		"the machine slept":                               "ask 1 1h; sleep 1m; clock 8h; sleep 1m; taken 1",
		"the clock is set back":                           "ask 3 1h; sleep 1m; clock -24h; sleep 1m; sleep 59m; taken 0; sleep 2m; taken 3",
		"the clock is set back between two processes":     "poll 0; checks off; start; ask 1 1h; exit; clock -24h; start; poll 0; sleep 59m; taken 0; sleep 2m; taken 1",
		"the store fails when it is due":                  "ask 1 1m; store off; sleep 2m; taken 0; store on; sleep 1m; taken 1",
		"a person answers a millisecond before":           "ask 2 1m; sleep 59999ms; answer; sleep 1h; taken 1",
		"a lease of another task ends in the meantime":    "claim 1 10s; ask 1 5s; sleep 5s; taken 1; lost 0; sleep 5s; lost 1",
		"another process asks, and the first one answers": "poll 0; start; ask 1 1m; exit; changed; sleep 61s; taken 1",
	} {
		t.Run(name, func(t *testing.T) {
			withLeaseHarness(t, func(_ *testing.T, h *leaseHarness) { h.play(script) })
		})
	}
}

// Other changes wait for the one that takes the defaults, and a worker for its claim.
func TestDefaultsThatAreDueTogetherAreNotTakenInOneChange(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		h.play("poll 0; checks off; ask 200 1m; sleep 2m; taken 0")
		require.False(t, h.claim(time.Hour).Empty())
		require.Equal(t, 64, h.countTaken())
		before := h.st.number()
		h.play("checks on; sleep 1s; taken 200")
		require.GreaterOrEqual(t, h.st.number()-before, 3)
	})
}

// ask creates a task that asks with a default, which time takes.
func (h *leaseHarness) ask(after time.Duration) {
	h.t.Helper()
	offer, err := task.NewOffer([]task.Option{{Label: "keep"}, {Label: "drop"}}, true, "drop", after.Microseconds())
	require.NoError(h.t, err)
	id := h.create(task.Spec{})
	h.asked = append(h.asked, h.end(id, task.Finish{Status: task.AttemptAwaiting, Question: "keep it?", Offer: offer}).ID)
}

// countTaken returns how many of the questions took their default, and asserts that the log and the replies say so.
func (h *leaseHarness) countTaken() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.st.hookedStore.View(h.t.Context(), func(tx store.Tx) error {
		logged, err := tx.Events(0, 1000, []core.EventType{core.TaskDefaulted})
		require.NoError(h.t, err)
		for _, id := range h.asked {
			replies, err := tx.Replies(id, 0, 10)
			require.NoError(h.t, err)
			if len(replies) == 1 && replies[0].ByTime {
				require.Equal(h.t, "drop drop ", fmt.Sprint(replies[0].Option, " ", replies[0].Text, " ", replies[0].By))
				n++
			}
		}
		require.Len(h.t, logged, n)
		return nil
	}))
	return n
}

// A gatedStore counts its reads and can block them.
type gatedStore struct {
	*hookedStore
	peek sync.Mutex // guards what follows
	n    int
	gate chan struct{} // nil: reads go through; otherwise they wait until it is closed
}

func (p *gatedStore) View(ctx context.Context, fn func(store.Tx) error) error {
	p.peek.Lock()
	p.n++
	gate := p.gate
	p.peek.Unlock()
	if gate != nil {
		<-gate
	}
	return p.hookedStore.View(ctx, fn)
}

// readings returns the number of reads.
func (p *gatedStore) readings() int {
	p.peek.Lock()
	defer p.peek.Unlock()
	return p.n
}

// setChecks blocks or admits reads, so that no lease check runs.
func (p *gatedStore) setChecks(on bool) {
	p.peek.Lock()
	gate := p.gate
	p.gate = nil
	if !on {
		p.gate = make(chan struct{})
	}
	p.peek.Unlock()
	if gate != nil {
		close(gate)
		synctest.Wait()
	}
}

// A leaseHarness is an engine in fake time with an adjustable wall clock.
type leaseHarness struct {
	taskFixture // of the process that makes the calls
	st          *gatedStore
	claims      []engine.Claimed
	asked       []string                    // the ids of the tasks that asked
	shift       atomic.Int64                // of the wall clock
	fault       atomic.Pointer[store.Error] // of updates
	log         bytes.Buffer                // of the first process; read when it rests
}

func withLeaseHarness(t *testing.T, test func(t *testing.T, h *leaseHarness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &leaseHarness{taskFixture: taskFixture{t: t}, st: &gatedStore{hookedStore: newHookedStore(t)}}
		h.st.before = func(int) error {
			if fault := h.fault.Load(); fault != nil {
				return fault
			}
			return nil
		}
		h.e = build(t, engine.Options{Open: open(h.st), Now: h.now, Logger: slog.New(slog.NewTextHandler(&h.log, nil))})
		runEngine(t, h.e)
		t.Cleanup(func() { h.st.setChecks(true) })
		test(t, h)
	})
}

func (h *leaseHarness) now() time.Time { return time.Now().Add(time.Duration(h.shift.Load())) }

// play runs a script of steps: a verb, and its arguments.
//
//	claim N LENGTH       creates tasks of two attempts, and claims them
//	poll N               claims until no task is ready, and asserts the number of claims
//	beat LENGTH|refused  sends the heartbeats of all workers
//	lost N               asserts how many attempts have ended
//	sleep DURATION       advances all clocks
//	clock DURATION       shifts only the wall clock
//	checks on|off        admits or blocks the lease checks of the first process
//	store on|off         lets updates succeed or fail
//	start, exit          starts and ends another process, which makes the calls until then
//	ask N DURATION       creates tasks that ask, whose default is taken after the time
//	answer               a person answers the first of them
//	taken N              asserts how many defaults were taken by time
//	changed              signals the commit of another process to the first one
func (h *leaseHarness) play(script string) {
	h.t.Helper()
	first, exit := h.e, func() {}
	defer func() { exit() }()
	for step := range strings.SplitSeq(script, "; ") {
		words := strings.Fields(step)
		n, last := 0, words[len(words)-1]
		n, _ = strconv.Atoi(words[min(1, len(words)-1)])
		length, _ := time.ParseDuration(last)
		switch words[0] {
		case "claim":
			for range n {
				h.create(task.Spec{MaxAttempts: 2})
				h.claims = append(h.claims, h.claim(length))
			}
		case "poll":
			for range n {
				require.False(h.t, h.claim(time.Minute).Empty(), step)
			}
			require.True(h.t, h.claim(time.Minute).Empty(), step)
		case "beat":
			for _, c := range h.claims {
				require.Equal(h.t, last != "refused", h.beat(c, length).Applied, step)
			}
		case "lost":
			require.Equal(h.t, n, h.countLost(), "%s in %s", step, script)
		case "sleep":
			h.sleep(length)
		case "clock":
			h.shift.Add(int64(length))
		case "checks":
			h.st.setChecks(last == "on")
		case "store":
			h.fault.Store(map[string]*store.Error{"off": {Kind: store.IO, Message: "a bad moment"}}[last])
		case "start":
			h.e = build(h.t, engine.Options{Open: open(h.st.hookedStore), Now: h.now})
			exit = runEngine(h.t, h.e)
		case "exit":
			exit()
			h.e = first
		case "ask":
			for range n {
				h.ask(length)
			}
		case "answer":
			h.apply(func(tx *engine.Tx) (any, error) {
				_, _, err := tx.ReplyToTask(h.asked[0], task.Reply{Option: "keep"}, "ann", "")
				return nil, err
			})
		case "taken":
			require.Equal(h.t, n, h.countTaken(), "%s in %s", step, script)
		case "changed":
			h.st.changed <- struct{}{}
		default:
			require.Fail(h.t, "no such step", step)
		}
	}
}

// sleep advances the time and waits for everything that is due.
func (h *leaseHarness) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *leaseHarness) beat(c engine.Claimed, length time.Duration) engine.Reported {
	h.t.Helper()
	return h.apply(func(tx *engine.Tx) (any, error) {
		return tx.Heartbeat(c.Task.ID, c.Lease.Token, length.Microseconds(), engine.Progress{})
	}).(engine.Reported)
}

// countLost returns how many of the claimed tasks are beyond their first attempt.
func (h *leaseHarness) countLost() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.st.hookedStore.View(h.t.Context(), func(tx store.Tx) error {
		for _, c := range h.claims {
			task, _, err := tx.Task(c.Task.ID)
			if err != nil {
				return err
			}
			if task.Current.Number > 1 {
				n++
			}
		}
		return nil
	}))
	return n
}

func TestExpiredLeaseUsesUpAnAttempt(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		id := h.create(task.Spec{MaxAttempts: 2})
		for _, want := range []string{"QUEUED 2 retry", "ERROR 2 retry"} {
			h.claim(time.Minute)
			h.sleep(time.Minute)
			got, _ := h.task(id)
			require.Equal(t, want, fmt.Sprint(got.Status(), " ", got.Current.Number, " ", got.Current.Cause))
		}
	})
}

// Without leases, neither time nor unrelated changes cause a check.
func TestWatchRestsWhileThereIsNoLease(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		h.create(task.Spec{})
		h.sleep(time.Second)
		rest := func() {
			t.Helper()
			before := h.st.readings()
			h.sleep(24 * time.Hour)
			for range 10 {
				do(t, h.e, queue("s", "x"))
			}
			synctest.Wait()
			require.Equal(t, before, h.st.readings())
		}
		rest()
		c := h.claim(time.Minute)
		before := h.st.readings()
		h.sleep(10 * time.Second)
		require.Greater(t, h.st.readings(), before+5, "it does not watch")
		h.finish(c, completed)
		h.sleep(2 * time.Second)
		rest()
	})
}

// A claim that waits for a task is answered when a lease ends, or when another process adds a task.
func TestWaitingClaimIsAnsweredWhenATaskIsReady(t *testing.T) {
	for _, added := range []bool{false, true} {
		withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
			want, after := h.create(task.Spec{MaxAttempts: 2}), 10500*time.Millisecond
			h.claim(after)
			began := time.Now()
			var last engine.Claimed
			done := waits(t, t.Context(), h.e, engine.Change{
				Apply: func(tx *engine.Tx) (any, error) {
					var err error
					last, err = tx.ClaimTask(engine.Claim{Worker: "waiting", Length: time.Minute.Microseconds()})
					return last.Task.ID, err
				},
				Wait: 25 * time.Second, Session: engine.Claimers,
				Idle: func(any) bool { return last.Empty() }, Due: func(any) core.Instant { return last.Due },
			})
			if added {
				other := build(t, engine.Options{Open: open(h.st.hookedStore)})
				runEngine(t, other)
				h.e, after = other, 0
				want = h.create(task.Spec{MaxAttempts: 1})
				h.st.changed <- struct{}{}
			}
			require.Equal(t, outcome{result: want}, <-done)
			require.Equal(t, after, time.Since(began))
		})
	}
}

// A store that accepts no writes causes one warning, not one per second.
func TestLeaseErrorIsLoggedOnce(t *testing.T) {
	withLeaseHarness(t, func(t *testing.T, h *leaseHarness) {
		h.play("claim 1 1s")
		h.fault.Store(&store.Error{Kind: store.ReadOnly, Message: "it is read-only"})
		h.sleep(time.Second)
		before := h.st.number()
		h.sleep(10 * time.Minute)
		require.Equal(t, before+10, h.st.number(), "it is left alone for a minute")
		h.fault.Store(&store.Error{Kind: store.IO, Message: "the disk is gone"})
		h.sleep(10 * time.Minute)
		require.Equal(t, 1, strings.Count(h.log.String(), "it is read-only"))
		require.Equal(t, 1, strings.Count(h.log.String(), "the disk is gone"))
	})
}
