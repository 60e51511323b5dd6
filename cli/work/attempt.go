package work

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"waybill/cli/program"
	"waybill/schema"
)

// Causes of the end of a command that did not end by itself.
var (
	errLost      = errors.New("another worker may have the task")
	errWithdrawn = errors.New("the end of the task was asked for")
)

const (
	// exitTransient is the exit status for "try again later": EX_TEMPFAIL of sysexits.h.
	exitTransient = 75
	// maxQuestion limits the bytes of a question.
	maxQuestion = 64 << 10
)

// An attempt is one claimed attempt of a task.
type attempt struct {
	*host
	claim *schema.Claim
	since time.Time // a time just before the claim
	about Event     // the constant part of its events
}

// runAttempt runs the command for a claimed task and reports the result. When ctx ends, it ends the command and still
// reports.
func (h *host) runAttempt(ctx context.Context, c claimed, about Event) {
	about.TaskID, about.Attempt = c.Task.TaskID, c.Attempt.AttemptNumber
	about.RunID, about.Role = c.Task.RunID, c.Task.Role
	a := &attempt{host: h, claim: c.Claim, since: c.since, about: about}
	a.run(ctx, context.WithoutCancel(ctx))
}

// say sends an event about the attempt.
func (a *attempt) say(kind string, fill func(e *Event)) {
	e := a.about
	e.Kind = kind
	if fill != nil {
		fill(&e)
	}
	a.tell(e)
}

// trouble sends an event about a call that failed.
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
	most := maxOutput
	if a.judged() {
		most = maxJudged
	}
	began := time.Now()
	p := a.execute(ctx, a.claim.Task.TaskID, a.claim.Prompt, a.environment(session), most)
	a.report(reporting, p, context.Cause(ctx), time.Since(began))
}

// judged reports whether the result goes to the run of the task.
func (a *attempt) judged() bool { return a.claim.Task.RunID != "" && a.claim.Task.Role != "" }

// session binds a session and returns its name. mine is false if the attempt belongs to another process now. An
// attempt after a reply continues the session of the question, so that a command can resume the conversation.
func (a *attempt) session(ctx context.Context) (name string, mine bool) {
	name = uuid.NewString()
	if a.claim.Continuation {
		var t schema.Timeline
		if a.callUntilDone(ctx, "get_timeline", schema.TimelineParams{TaskID: a.claim.Task.TaskID}, &t) == nil {
			for _, before := range t.Attempts {
				if before.SessionID != "" && before.AttemptNumber < a.claim.Attempt.AttemptNumber {
					name = before.SessionID
				}
			}
		}
	}
	r := schema.AttemptReport{Applied: true}
	err := a.callUntilDone(ctx, "bind_session", schema.BindSessionParams{
		TaskID: a.claim.Task.TaskID, AttemptID: a.claim.Attempt.AttemptID, LeaseToken: a.claim.Lease.Token, SessionID: name,
	}, &r)
	if err != nil && ctx.Err() == nil {
		a.trouble("bind_session", err)
	}
	return name, err != nil || r.Applied
}

// environment returns the environment variables that describe the task to a command.
func (a *attempt) environment(session string) []string {
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
			env = append(env, program.TaskVariables[i]+"="+value)
		}
	}
	return env
}

// renew sends heartbeats until ctx ends. It stops the command when the store says so, and when the lease is about to
// expire because the store does not answer.
func (a *attempt) renew(ctx context.Context, stop context.CancelCauseFunc) {
	p := schema.HeartbeatParams{TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token}
	// The command needs its grace before the lease ends, but at most a third of the lease.
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

// report sends the result of the command to the store, and an event about the outcome.
func (a *attempt) report(ctx context.Context, p commandResult, cause error, took time.Duration) {
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
	case p.err == nil && p.code == 0 && a.marked(p.output) != "":
		kind, finish.Status, finish.Question = Asked, "awaiting_response", a.question(p.output)
	case p.err == nil && p.code == 0 && a.judged():
		a.submit(ctx, p, took)
		return
	case p.err == nil && p.code == 0:
		kind, finish.Status = Completed, "completed"
	case p.err == nil && p.code == a.o.Ask && strings.TrimSpace(p.output) != "":
		kind, finish.Status, finish.Question = Asked, "awaiting_response", a.question(p.output)
	default:
		finish.Status, finish.Error = "error", &schema.ErrorSaid{Message: p.why()}
		if p.err == nil && p.code == exitTransient {
			finish.Error.Class = "transient"
		}
	}
	a.finish(ctx, kind, finish, took)
}

// marked returns the question in the last line of an output, if the line begins with the marker, or "".
func (h *host) marked(output string) string {
	output = strings.TrimRight(output, " \t\r\n")
	text, ok := strings.CutPrefix(output[strings.LastIndexByte(output, '\n')+1:], h.o.Marker)
	if !ok || h.o.Marker == "" {
		return ""
	}
	return strings.TrimSpace(text)
}

// question returns the question in the last line. Without a marker, it is the whole output, or "" and the end of a
// long one.
func (h *host) question(output string) string {
	if text := h.marked(output); text != "" {
		return beginning(text, maxQuestion)
	}
	if output = strings.TrimSpace(output); len(output) > maxQuestion {
		return ending(output, maxQuestion)
	}
	return ""
}

// finish reports the end of the attempt. If the store refuses the report, it reports a plain failure, because the
// work would otherwise run again after the lease.
func (a *attempt) finish(ctx context.Context, kind string, p schema.FinishAttemptParams, took time.Duration) {
	var r schema.FinishAttemptResult
	err := a.callUntilDone(ctx, "finish_attempt", p, &r)
	if err != nil && !isTransient(err) {
		a.trouble("finish_attempt", err)
		kind, p = Failed, schema.FinishAttemptParams{
			TaskID: p.TaskID, LeaseToken: p.LeaseToken, Status: "error", Retry: "never",
			Error: &schema.ErrorSaid{Message: beginning(valid("the report was refused: "+err.Error()), maxReason), Class: "terminal"},
		}
		err = a.callUntilDone(ctx, "finish_attempt", p, &r)
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

// submit sends the result to the run for judgement.
func (a *attempt) submit(ctx context.Context, p commandResult, took time.Duration) {
	var r schema.IngestOutputResult
	err := a.callUntilDone(ctx, "ingest_output", schema.IngestOutputParams{
		RunID: a.claim.Task.RunID, Role: a.claim.Task.Role, Output: &p.output,
		TaskID: a.claim.Task.TaskID, AttemptID: a.claim.Attempt.AttemptID, LeaseToken: a.claim.Lease.Token, Tree: a.tree(ctx),
	}, &r)
	if isTransient(err) {
		a.trouble("ingest_output", err)
		a.fail(fmt.Errorf("ingest_output of %s: %w", a.claim.Task.TaskID, err))
		return
	}
	if err != nil {
		// The run may have ended. Then the task must end, too.
		a.finish(ctx, Failed, schema.FinishAttemptParams{
			TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token, Status: "error", Retry: "never",
			Error: &schema.ErrorSaid{Message: beginning(valid("the result was not taken: "+err.Error()), maxReason), Class: "terminal"},
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
