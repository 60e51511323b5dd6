// Package work is a small host: it claims tasks, runs a command for each, and reports the result. With a plan it also
// creates the tasks, item after item, until no item can begin.
//
// These rules hold for every command:
//
//   - It claims only tasks that it starts at once, and runs at most Parallel commands.
//   - A command reads the prompt from its standard input. Its environment names the task; the lease stays here.
//   - The lease is renewed while the command runs. The command is ended before the lease if the lease is lost, the store
//     cannot be reached, or the host cancels the task. Nothing is reported about a lost lease.
//   - A command is ended by SIGTERM, and after Grace all its processes are killed. Its processes do not outlive it, and it
//     does not outlive this process where the system can ensure that.
//   - Exit status 0 means that standard output is the result, Ask that it is a question to a person, and 75 (EX_TEMPFAIL)
//     that a retry may succeed. Any other status is a failure, with the end of standard error as the reason.
//   - A result of a task with a run and a role is judged; the run decides the next step.
//   - The checks of an item run while no command runs, after each submission of a worker, and those of a plan when its items
//     are done.
//   - A report is repeated for half a minute while the store asks for that, and counts once. If it still fails, the work
//     ends with an error.
//
// It refuses to judge results, read plans or open stores: methods do that.
package work

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"waybill/check/config"
	"waybill/cli/receipts"
	"waybill/schema"
)

// Options configure the work. Call, Command and Tell are required.
type Options struct {
	// Call carries out a method. A *schema.Error is shown with its code.
	Call func(ctx context.Context, method string, params, result any) error
	// Command is the program and its arguments.
	Command []string
	// Dir is its working directory; Env is added to its environment.
	Dir string
	Env []string
	// Errors returns the writer for the standard error of a command; nil discards it. A Write must not block.
	Errors func(task string) io.WriteCloser
	// Tell receives the events, one at a time.
	Tell func(Event)

	// Worker is the name in claims.
	Worker string
	// Parallel limits the commands that run at a time; 0 means 1.
	Parallel int
	// Lease is the length of a lease; 0 means a minute.
	Lease time.Duration
	// Timeout limits the run time of a command; 0 means no limit.
	Timeout time.Duration
	// Grace is the time between the request to end and the kill; 0 means 5 s.
	Grace time.Duration
	// Ask is the exit status of a question; 0 means 10.
	Ask int
	// Marker begins the last line of an output with a question; the rest of the line is the question. With "", only
	// the exit status Ask marks a question.
	Marker string
	// Stay keeps waiting for tasks and answers when there is nothing to do.
	Stay bool
	// GiveUpAfter is the number of items or tasks in a row with the same failure that ends the work with a
	// *GaveUpError; 0 means never.
	GiveUpAfter int

	// RunID and Role select tasks. Plan does not use them.
	RunID, Role string

	// Models and MaxAttempts apply to the tasks that Plan creates.
	Models      []schema.Model
	MaxAttempts int
	// Tick says which approved items Plan ticks in their file.
	Tick Tick
	// Checks can run here. Those for items must be green before an item of a plan is done, the others before the plan is.
	Checks receipts.Checks
	// Facts says what the facts of results count for in the runs that this process begins; "" leaves that to the settings.
	// FactsAsked says that a run with another use of facts is begun again.
	Facts      Facts
	FactsAsked bool
}

// A Tick says which approved items are ticked.
type Tick string

// The ticks.
const (
	TickNothing Tick = ""
	TickProven  Tick = "proven"  // items that their checks prove
	TickClaimed Tick = "claimed" // all approved items
)

func (o Options) filled() Options {
	if o.Parallel == 0 {
		o.Parallel = 1
	}
	if o.Lease == 0 {
		o.Lease = time.Minute
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Ask == 0 {
		o.Ask = 10
	}
	if o.Errors == nil {
		o.Errors = func(string) io.WriteCloser { return nowhere{io.Discard} }
	}
	return o
}

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// An Event reports one thing that happened. Fields that do not apply are empty.
type Event struct {
	Kind    string `json:"event"`
	Plan    string `json:"plan,omitzero"`
	ItemID  string `json:"item_id,omitzero"`
	RunID   string `json:"run_id,omitzero"`
	TaskID  string `json:"task_id,omitzero"`
	Attempt int    `json:"attempt_number,omitzero"`
	Role    string `json:"role,omitzero"`
	// Status is the status of the task, Verdict the judgement of its result, and Next the next action of the run.
	Status  string `json:"status,omitzero"`
	Verdict string `json:"verdict,omitzero"`
	Next    string `json:"next_action,omitzero"`
	TookMS  int64  `json:"duration_ms,omitzero"`
	// Check is the name of a check, whose outcome is in Verdict. Proof is how much the checks prove of an approved item.
	Check string `json:"check,omitzero"`
	Proof string `json:"proof,omitzero"`
	// Message is the reason, in the words of its source.
	Message string `json:"message,omitzero"`
}

// The kinds of events.
const (
	Started     = "started"     // a command runs
	Completed   = "completed"   // it returned a result
	Asked       = "asked"       // it asked a person
	Failed      = "failed"      // it failed
	Cancelled   = "cancelled"   // it was ended on request
	Interrupted = "interrupted" // it was ended with this process
	Lost        = "lost"        // another process has the task
	Begun       = "begun"       // work on an item of a plan began
	Checking    = "checking"    // a check runs
	Checked     = "checked"     // it has ended
	Approved    = "approved"    // an item is done
	Halted      = "halted"      // an item needs a person
	Waits       = "waits"       // an item waits for an answer
	Ended       = "ended"       // no item of the plan can begin
	Trouble     = "trouble"     // a call to the store failed
)

// ErrUnfinished says that a plan is not completed.
var ErrUnfinished = errors.New("the plan is not completed")

// A host runs the commands of one call of Tasks or Plan.
type host struct {
	o        Options
	required []string        // names of the checks that the runs of this process require
	drain    <-chan struct{} // closed when nothing new may begin
	claiming context.Context // ends with drain or after fail, at most a moment later
	stop     context.CancelFunc

	mu     sync.Mutex // held during Tell; guards streak
	streak streak
	err    atomic.Pointer[error]
}

// newHost returns a host. The caller must call its stop.
func newHost(ctx context.Context, o Options, drain <-chan struct{}) *host {
	h := &host{o: o.filled(), drain: drain, streak: streak{most: o.GiveUpAfter, outcomes: map[string]outcome{}}}
	h.o.Checks.Call, h.o.Checks.Dir, h.o.Checks.Runner = h.callUntilDone, h.o.Dir, "waybill work"
	h.required = h.o.Checks.Required(config.PerItem)
	h.claiming, h.stop = context.WithCancel(ctx)
	go func() { // ends with claiming
		select {
		case <-h.drain:
			h.stop()
		case <-h.claiming.Done():
		}
	}()
	return h
}

// closing reports whether nothing new may begin.
func (h *host) closing() bool {
	select {
	case <-h.drain:
		h.stop()
	default:
	}
	return h.claiming.Err() != nil
}

func (h *host) tell(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.o.Tell(e)
	if h.streak.see(e) {
		h.fail(h.streak.gaveUp(e))
	}
}

// fail stops the beginning of new work after an error that would repeat. It keeps the first error.
func (h *host) fail(err error) {
	h.err.CompareAndSwap(nil, &err)
	h.stop()
}

func (h *host) failure() error {
	if err := h.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Tasks works on tasks of the queue until drain is closed or there is nothing to claim, and waits for begun tasks.
// The end of ctx also ends begun tasks. With Stay, it waits for more tasks. The error says why no task can be
// claimed, or which report failed.
func Tasks(ctx context.Context, drain <-chan struct{}, o Options) error {
	h := newHost(ctx, o, drain)
	defer h.stop()
	var running sync.WaitGroup
	for range h.o.Parallel {
		running.Go(func() { h.queue(ctx) })
	}
	running.Wait()
	return h.failure()
}

// queue takes one task after the other.
func (h *host) queue(ctx context.Context) {
	for !h.closing() {
		c, err := h.claim(h.o.RunID, h.o.Role, h.o.Stay)
		switch {
		case err != nil && !h.closing():
			h.fail(err)
		case err != nil:
		case c.Claim != nil:
			h.runAttempt(ctx, c, Event{})
		case !h.o.Stay:
			return
		}
	}
}

// maxClaimWait is the longest wait of a claim, in ms.
const maxClaimWait = 20_000

// A claimed is a claimed task, or none.
type claimed struct {
	*schema.Claim
	since time.Time // start of its lease, not later than the claim
}

// claim returns a claimed task, if there is one. Its idempotency key makes a repeated call return the task that was
// claimed before the answer was lost.
func (h *host) claim(run, role string, wait bool) (claimed, error) {
	lease := int(h.o.Lease.Milliseconds())
	p := schema.ClaimTaskParams{Worker: h.o.Worker, RunID: run, Role: role, LeaseMS: &lease}
	p.IdempotencyKey = uuid.NewString()
	if wait {
		p.WaitMS = maxClaimWait
	}
	var r schema.ClaimTaskResult
	again, err := h.callCounted(h.claiming, "claim_task", p, &r)
	if r.Claim == nil || err != nil {
		return claimed{}, err
	}
	c := claimed{r.Claim, time.Now()}
	if !again {
		return c, nil
	}
	// An earlier call may have claimed it, so its lease may have expired.
	beat := schema.HeartbeatParams{TaskID: c.Task.TaskID, LeaseToken: c.Lease.Token, LeaseMS: &lease}
	var alive schema.HeartbeatResult
	if err := h.callUntilDone(context.WithoutCancel(h.claiming), "heartbeat", beat, &alive); err != nil || !alive.Applied {
		return claimed{}, err
	}
	return c, nil
}

// maxCalls is the number of calls of a method while the store is unavailable. They take half a minute.
const maxCalls = 12

// callUntilDone calls a method and repeats the call while the store says that this may help. It stops when ctx ends.
func (h *host) callUntilDone(ctx context.Context, method string, params, result any) error {
	_, err := h.callCounted(ctx, method, params, result)
	return err
}

// callCounted is callUntilDone, and reports whether it repeated the call.
func (h *host) callCounted(ctx context.Context, method string, params, result any) (again bool, err error) {
	wait := 50 * time.Millisecond
	for n := range maxCalls {
		err = h.o.Call(ctx, method, params, result)
		if !isTransient(err) || ctx.Err() != nil {
			return n > 0, err
		}
		if n == maxCalls/2 {
			h.tell(Event{Kind: Trouble, Message: method + ": " + err.Error()})
		}
		if !pause(ctx, wait) {
			break
		}
		wait = min(2*wait, 5*time.Second)
	}
	return true, err
}

// isTransient reports whether the store may be usable again in a moment.
func isTransient(err error) bool {
	fault, ok := errors.AsType[*schema.Error](err)
	if !ok || !fault.Data.Retryable {
		return false
	}
	switch fault.Code {
	case schema.ErrorNumber(schema.Overloaded), schema.ErrorNumber(schema.StoreFull), schema.ErrorNumber(schema.StoreIO):
		return true
	}
	return false
}

// pause waits, and reports whether ctx is still live.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
