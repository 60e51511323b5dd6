// Package work is a small host: it claims tasks, runs a command for each, and reports what came out of it. With a plan
// it makes the tasks as well, item after item, until nothing of the plan can be begun any more.
//
// What holds, whatever the command does:
//
//   - Nothing is claimed that is not begun at once, and no more than Parallel commands run at a time.
//   - A command gets the prompt on its standard input, as it is, and then the end of it. Its surroundings name the
//     task; the lease stays here.
//   - While it runs, the lease is renewed. When the lease is lost, or may be because the store cannot be reached, or when
//     the end of the task was asked for, the command is ended, in time for it to be over when the lease is; of a lost one
//     nothing is reported.
//   - To end a command is to ask it (SIGTERM), and to kill it and all that it has started when Grace is over. What a
//     command has started does not outlive it, and it does not outlive this process where the system can see to that.
//   - Its exit status says what it came to: 0 that its standard output is the result, Ask that it is a question to a
//     person, 75 (EX_TEMPFAIL) that the same may succeed later, and anything else that it failed, with the end of its
//     standard error for a reason.
//   - The result of a task that has a run and a role is judged; the run decides what is next.
//   - A report is repeated for half a minute as long as the store says that this may help, and the same report counts once.
//     What could not be reported even then is an error in the end.
//
// It refuses to decide what follows from a result, to read a plan, and to open a store: for that it has the methods.
package work

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"waybill/schema"
)

// Options say what is to be done, and by whom. Call, Command and Tell are required.
type Options struct {
	// Call carries out a method of the vocabulary. Its errors that are a *schema.Error are told as such.
	Call func(ctx context.Context, method string, params, result any) error
	// Command is the program and its arguments.
	Command []string
	// Dir is where it runs; Env is added to its environment.
	Dir string
	Env []string
	// Errors gives where the standard error of a command goes, as it is; nil is nowhere. A Write must not wait for anybody.
	Errors func(task string) io.WriteCloser
	// Tell is told what happens, one after the other.
	Tell func(Event)

	// Worker is the name under which tasks are claimed.
	Worker string
	// Parallel bounds the commands that run at a time; 0 is 1.
	Parallel int
	// Lease is how long an attempt may go without a sign of this process; 0 is a minute.
	Lease time.Duration
	// Timeout is how long a command may take; 0 is for ever.
	Timeout time.Duration
	// Grace is how long a command has to end that was asked to; 0 is 5 s.
	Grace time.Duration
	// Ask is the exit status of a command that asks a person; 0 is 10.
	Ask int
	// Stay waits for more when there is nothing to do, and for answers. Otherwise that is the end.
	Stay bool

	// RunID and Role say which tasks are claimed. They are not for a plan.
	RunID, Role string

	// Models and MaxAttempts are those of the tasks that are made for a plan.
	Models      []schema.Model
	MaxAttempts int
	// Tick has the box of an item ticked in its file when it is approved.
	Tick bool
}

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

// An Event is something that happened. What is empty does not concern it.
type Event struct {
	Kind    string `json:"event"`
	Plan    string `json:"plan,omitzero"`
	ItemID  string `json:"item_id,omitzero"`
	RunID   string `json:"run_id,omitzero"`
	TaskID  string `json:"task_id,omitzero"`
	Attempt int    `json:"attempt_number,omitzero"`
	Role    string `json:"role,omitzero"`
	// Status is that of the task behind an attempt, Verdict what was made of its result, and Next what the run does.
	Status  string `json:"status,omitzero"`
	Verdict string `json:"verdict,omitzero"`
	Next    string `json:"next_action,omitzero"`
	TookMS  int64  `json:"duration_ms,omitzero"`
	// Message says why, in the words of whoever failed.
	Message string `json:"message,omitzero"`
}

// The kinds of events.
const (
	Started     = "started"     // a command runs
	Completed   = "completed"   // and gave a result
	Asked       = "asked"       // a person
	Failed      = "failed"      // or not
	Cancelled   = "cancelled"   // it was ended, because somebody wanted that
	Interrupted = "interrupted" // it was ended, because this process ends
	Lost        = "lost"        // somebody else has the task
	Begun       = "begun"       // an item of a plan
	Approved    = "approved"    // an item is done
	Halted      = "halted"      // an item cannot go on without a person
	Waits       = "waits"       // an item waits for the answer of a person
	Ended       = "ended"       // a plan: nothing can be begun any more
	Trouble     = "trouble"     // something could not be told to the store
)

// ErrUnfinished says that a plan has not been completed.
var ErrUnfinished = errors.New("the plan is not completed")

// A host does the work.
type host struct {
	o        Options
	drain    <-chan struct{} // closed when nothing new is to be begun
	claiming context.Context // ends then, and when fail was called, at the latest a moment after
	stop     context.CancelFunc

	mu  sync.Mutex // held while Tell is called
	err atomic.Pointer[error]
}

// newHost gives a host. Its stop has to be called.
func newHost(ctx context.Context, o Options, drain <-chan struct{}) *host {
	h := &host{o: o.filled(), drain: drain}
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

// closing reports whether nothing new is to be begun.
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
}

// fail has nothing new begun, because of an error that more of the same would meet, too. The first one counts.
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

// Tasks works on tasks of the queue, until drain is closed and what was begun is over, or until ctx ends, which ends what
// was begun. Without Stay, it ends when there is nothing to claim. An error says why no more can be claimed, or what could
// not be reported.
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
			h.attend(ctx, c, Event{})
		case !h.o.Stay:
			return
		}
	}
}

// longest is how long a claim may wait, in ms.
const longest = 20_000

// A claimed is a task in hand, or none.
type claimed struct {
	*schema.Claim
	since time.Time // from when its lease lasts; to the moment that an answer takes
}

// claim gives a task to work on, if there is one. It is asked for under a key, so that one that was claimed while the store
// could not say so is this one.
func (h *host) claim(run, role string, wait bool) (claimed, error) {
	lease := int(h.o.Lease.Milliseconds())
	p := schema.ClaimTaskParams{Worker: h.o.Worker, RunID: run, Role: role, LeaseMS: &lease}
	p.IdempotencyKey = uuid.NewString()
	if wait {
		p.WaitMS = longest
	}
	var r schema.ClaimTaskResult
	again, err := h.insist(h.claiming, "claim_task", p, &r)
	if r.Claim == nil || err != nil {
		return claimed{}, err
	}
	c := claimed{r.Claim, time.Now()}
	if !again {
		return c, nil
	}
	// It may have been claimed the first time: then its lease may have run out meanwhile.
	beat := schema.HeartbeatParams{TaskID: c.Task.TaskID, LeaseToken: c.Lease.Token, LeaseMS: &lease}
	var alive schema.HeartbeatResult
	if err := h.persist(context.WithoutCancel(h.claiming), "heartbeat", beat, &alive); err != nil || !alive.Applied {
		return claimed{}, err
	}
	return c, nil
}

// tries is how often a method is tried that the store cannot carry out now. With the waits between it takes half a minute.
const tries = 12

// persist carries a method out, again and again as long as the store says that this may help. It gives up when ctx ends.
func (h *host) persist(ctx context.Context, method string, params, result any) error {
	_, err := h.insist(ctx, method, params, result)
	return err
}

// insist is persist, and reports whether it was tried more than once.
func (h *host) insist(ctx context.Context, method string, params, result any) (again bool, err error) {
	wait := 50 * time.Millisecond
	for n := range tries {
		err = h.o.Call(ctx, method, params, result)
		if !passing(err) || ctx.Err() != nil {
			return n > 0, err
		}
		if n == tries/2 {
			h.tell(Event{Kind: Trouble, Message: method + ": " + err.Error()})
		}
		if !pause(ctx, wait) {
			break
		}
		wait = min(2*wait, 5*time.Second)
	}
	return true, err
}

// passing reports whether an error is one of a store that may be usable in a moment.
func passing(err error) bool {
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

// pause waits, and reports whether ctx goes on.
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
