package work

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"waybill/schema"
)

// Why a command is ended before it ends by itself.
var (
	errLost      = errors.New("somebody else may have the task")
	errWithdrawn = errors.New("the end of the task was asked for")
)

const (
	// exitTransient is the exit status of a command that may succeed later: EX_TEMPFAIL of sysexits.h.
	exitTransient = 75
	// mostQuestion is how long a question may be.
	mostQuestion = 64 << 10
)

// told are the variables of the environment that tell a command what it is at.
var told = []string{
	"WAYBILL_TASK_ID", "WAYBILL_ATTEMPT_ID", "WAYBILL_ATTEMPT_NUMBER", "WAYBILL_SESSION_ID", "WAYBILL_CONTINUATION",
	"WAYBILL_RUN_ID", "WAYBILL_ROLE", "WAYBILL_PROVIDER_ID", "WAYBILL_MODEL_ID", "WAYBILL_MODEL_VARIANT",
}

// An attempt is one claim in work.
type attempt struct {
	*host
	claim *schema.Claim
	since time.Time // when it was claimed, or a little before
	about Event     // what every event of it says; it does not change
}

// attend works on what was claimed, and reports what came out of it. When ctx ends, the command is ended; what is begun is
// reported all the same.
func (h *host) attend(ctx context.Context, c claimed, about Event) {
	about.TaskID, about.Attempt = c.Task.TaskID, c.Attempt.AttemptNumber
	about.RunID, about.Role = c.Task.RunID, c.Task.Role
	a := &attempt{host: h, claim: c.Claim, since: c.since, about: about}
	a.run(ctx, context.WithoutCancel(ctx))
}

// say tells of the attempt.
func (a *attempt) say(kind string, fill func(e *Event)) {
	e := a.about
	e.Kind = kind
	if fill != nil {
		fill(&e)
	}
	a.tell(e)
}

// trouble tells of what could not be told to the store.
func (a *attempt) trouble(method string, err error) {
	a.say(Trouble, func(e *Event) { e.Message = method + ": " + err.Error() })
}

func (a *attempt) run(ctx, reporting context.Context) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	renewing, rest := context.WithCancel(reporting)
	renewed := make(chan struct{})
	go func() { // ends with rest
		defer close(renewed)
		a.renew(renewing, stop)
	}()
	defer func() {
		rest()
		<-renewed
	}()
	session, mine := a.session(ctx)
	if !mine || errors.Is(context.Cause(ctx), errLost) {
		a.say(Lost, func(e *Event) { e.Message = errLost.Error() })
		return
	}
	if a.o.Timeout > 0 {
		limit := time.AfterFunc(a.o.Timeout, func() { stop(context.DeadlineExceeded) })
		defer limit.Stop()
	}
	a.say(Started, nil)
	most := mostOutput
	if a.judged() {
		most = mostJudged
	}
	began := time.Now()
	p := a.execute(ctx, a.claim.Task.TaskID, a.claim.Prompt, a.surroundings(session), most)
	a.report(reporting, p, context.Cause(ctx), time.Since(began))
}

// judged reports whether the result goes to the run of the task.
func (a *attempt) judged() bool { return a.claim.Task.RunID != "" && a.claim.Task.Role != "" }

// session names the conversation of the attempt, and reports whether the attempt is still this process's. One that goes on
// with a person's answer goes on in the conversation that came before, so that a command can take that up again.
func (a *attempt) session(ctx context.Context) (name string, mine bool) {
	name = uuid.NewString()
	if a.claim.Continuation {
		var t schema.Timeline
		if a.persist(ctx, "get_timeline", schema.TimelineParams{TaskID: a.claim.Task.TaskID}, &t) == nil {
			for _, before := range t.Attempts {
				if before.SessionID != "" && before.AttemptNumber < a.claim.Attempt.AttemptNumber {
					name = before.SessionID
				}
			}
		}
	}
	r := schema.AttemptReport{Applied: true}
	err := a.persist(ctx, "bind_session", schema.BindSessionParams{
		TaskID: a.claim.Task.TaskID, AttemptID: a.claim.Attempt.AttemptID, LeaseToken: a.claim.Lease.Token, SessionID: name,
	}, &r)
	if err != nil && ctx.Err() == nil {
		a.trouble("bind_session", err)
	}
	return name, err != nil || r.Applied
}

// surroundings are the variables of the environment that tell a command what it is at.
func (a *attempt) surroundings(session string) []string {
	t, m := a.claim.Task, schema.Model{}
	if a.claim.Attempt.Model != nil {
		m = *a.claim.Attempt.Model
	}
	continuation := ""
	if a.claim.Continuation {
		continuation = "1"
	}
	env := append([]string(nil), a.o.Env...)
	for i, value := range []string{
		t.TaskID, a.claim.Attempt.AttemptID, strconv.Itoa(a.claim.Attempt.AttemptNumber), session, continuation,
		t.RunID, t.Role, m.ProviderID, m.ModelID, m.Variant,
	} {
		if value != "" {
			env = append(env, told[i]+"="+value)
		}
	}
	return env
}

// renew gives signs of life until ctx ends, and has the command ended when it is not to go on: when the store says so, and
// when the lease is about to run out because the store cannot be reached, whatever holds up who says that.
func (a *attempt) renew(ctx context.Context, stop context.CancelCauseFunc) {
	p := schema.HeartbeatParams{TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token}
	// A command that is asked to end has its grace, or what a third of the lease allows.
	safe := a.o.Lease - min(a.o.Grace, a.o.Lease/3)
	until := a.since.Add(safe)
	guard := time.AfterFunc(time.Until(until), func() { stop(errLost) })
	defer guard.Stop()
	for next := a.o.Lease / 3; pause(ctx, next); {
		before := time.Now()
		var r schema.HeartbeatResult
		calling, end := context.WithDeadline(ctx, until)
		err := a.o.Call(calling, "heartbeat", p, &r)
		end()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			next = a.o.Lease / 12
			a.trouble("heartbeat", err)
			continue
		case !r.Applied:
			stop(errLost)
			return
		case r.CancelRequested:
			stop(errWithdrawn)
		}
		next, until = a.o.Lease/3, before.Add(safe)
		guard.Reset(time.Until(until))
	}
}

// report tells the store what came out of the command, and everybody what became of that.
func (a *attempt) report(ctx context.Context, p product, cause error, took time.Duration) {
	finish := schema.FinishAttemptParams{TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token, Output: p.output}
	kind := Failed
	itself := p.err == nil && !p.ended
	switch {
	case errors.Is(cause, errLost):
		a.say(Lost, func(e *Event) { e.Message = errLost.Error() })
		return
	case errors.Is(cause, errWithdrawn):
		kind, finish.Status = Cancelled, "cancelled"
	case errors.Is(cause, context.DeadlineExceeded) && !itself:
		finish.Status, finish.Error = "error", &schema.ErrorSaid{
			Name: "TimeoutError", Class: "transient", Message: fmt.Sprintf("the command was ended after %v", a.o.Timeout),
		}
	case cause != nil && !itself:
		kind, finish.Status = Interrupted, "interrupted"
	case p.absent:
		a.fail(fmt.Errorf("the command cannot be run: %w", p.err))
		kind, finish.Status = Interrupted, "interrupted"
	case p.err == nil && p.code == 0 && a.judged():
		a.submit(ctx, p, took)
		return
	case p.err == nil && p.code == 0:
		kind, finish.Status = Completed, "completed"
	case p.err == nil && p.code == a.o.Ask && strings.TrimSpace(p.output) != "":
		kind, finish.Status, finish.Question = Asked, "awaiting_response", question(p.output)
	default:
		finish.Status, finish.Error = "error", &schema.ErrorSaid{Message: p.why()}
		if p.err == nil && p.code == exitTransient {
			finish.Error.Class = "transient"
		}
	}
	a.finish(ctx, kind, finish, took)
}

// question gives what stands behind "QUESTION: " on the last line, or else nothing: then all of the output is the question,
// or the end of it that is not too long for one.
func question(output string) string {
	output = strings.TrimSpace(output)
	text, ok := strings.CutPrefix(output[strings.LastIndexByte(output, '\n')+1:], "QUESTION: ")
	switch {
	case ok && strings.TrimSpace(text) != "":
		return beginning(strings.TrimSpace(text), mostQuestion)
	case len(output) > mostQuestion:
		return ending(output, mostQuestion)
	}
	return ""
}

// finish reports the end of the attempt. If the store refuses the report as it is, it is told so much that the attempt is
// over: or the same would be done again when the lease has run out.
func (a *attempt) finish(ctx context.Context, kind string, p schema.FinishAttemptParams, took time.Duration) {
	var r schema.FinishAttemptResult
	err := a.persist(ctx, "finish_attempt", p, &r)
	if err != nil && !passing(err) {
		a.trouble("finish_attempt", err)
		kind, p = Failed, schema.FinishAttemptParams{
			TaskID: p.TaskID, LeaseToken: p.LeaseToken, Status: "error", Retry: "never",
			Error: &schema.ErrorSaid{Message: beginning(valid("the report was refused: "+err.Error()), mostReason), Class: "terminal"},
		}
		err = a.persist(ctx, "finish_attempt", p, &r)
	}
	if err != nil {
		a.trouble("finish_attempt", err)
		a.fail(fmt.Errorf("finish_attempt of %s: %w", p.TaskID, err))
		return
	}
	if !r.Applied {
		kind = Lost
	}
	a.say(kind, func(e *Event) {
		e.Status, e.TookMS = r.Task.Status, took.Milliseconds()
		if p.Error != nil {
			e.Message = p.Error.Message
		}
	})
}

// submit has the result judged.
func (a *attempt) submit(ctx context.Context, p product, took time.Duration) {
	var r schema.IngestOutputResult
	err := a.persist(ctx, "ingest_output", schema.IngestOutputParams{
		RunID: a.claim.Task.RunID, Role: a.claim.Task.Role, Output: &p.output,
		TaskID: a.claim.Task.TaskID, AttemptID: a.claim.Attempt.AttemptID, LeaseToken: a.claim.Lease.Token,
	}, &r)
	if passing(err) {
		a.trouble("ingest_output", err)
		a.fail(fmt.Errorf("ingest_output of %s: %w", a.claim.Task.TaskID, err))
		return
	}
	if err != nil {
		// It may be that the run is over. Then the task is to be over, too.
		a.finish(ctx, Failed, schema.FinishAttemptParams{
			TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token, Status: "error", Retry: "never",
			Error: &schema.ErrorSaid{Message: beginning(valid("the result was not taken: "+err.Error()), mostReason), Class: "terminal"},
		}, took)
		return
	}
	if !r.Applied {
		a.say(Lost, func(e *Event) { e.Message = errLost.Error() })
		return
	}
	a.say(Completed, func(e *Event) {
		e.Verdict, e.Next, e.TookMS = r.Verdict, r.NextAction, took.Milliseconds()
		if r.Task != nil {
			e.Status = r.Task.Status
		}
		if len(r.Errors) > 0 {
			e.Message = r.Errors[0].Message
		}
	})
}
