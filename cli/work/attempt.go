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
	errLost      = errors.New("somebody else has the task")
	errWithdrawn = errors.New("the end of the task was asked for")
)

// exitTransient is the exit status of a command that may succeed later: EX_TEMPFAIL of sysexits.h.
const exitTransient = 75

// An attempt is one claim in work.
type attempt struct {
	*host
	claim *schema.Claim
	about Event // what every event of it says
}

// attend works on what was claimed, and reports what came out of it. When ctx ends, the command is ended.
func (h *host) attend(ctx context.Context, claim *schema.Claim, about Event) {
	about.TaskID, about.Attempt = claim.Task.TaskID, claim.Attempt.AttemptNumber
	about.RunID, about.Role = claim.Task.RunID, claim.Task.Role
	a := &attempt{host: h, claim: claim, about: about}
	// What is begun is reported, also on the way out.
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

func (a *attempt) run(ctx, reporting context.Context) {
	session := a.session(reporting)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if a.o.Timeout > 0 {
		limit := time.AfterFunc(a.o.Timeout, func() { stop(context.DeadlineExceeded) })
		defer limit.Stop()
	}
	renewed := make(chan struct{})
	renewing, rest := context.WithCancel(reporting)
	go func() { // ends with rest
		defer close(renewed)
		a.renew(renewing, stop)
	}()
	a.say(Started, nil)
	most := mostOutput
	if a.judged() {
		most = mostJudged
	}
	began := time.Now()
	p := a.execute(ctx, a.claim.Task.TaskID, a.claim.Prompt, a.surroundings(session), most)
	a.about.TookMS = time.Since(began).Milliseconds()
	cause := context.Cause(ctx)
	a.report(reporting, p, cause)
	rest()
	<-renewed
}

// judged reports whether the result goes to the run of the task.
func (a *attempt) judged() bool { return a.claim.Task.RunID != "" && a.claim.Task.Role != "" }

// session names the conversation of the attempt. One that goes on with a person's answer goes on in the conversation that
// asked, so that a command can take that up again.
func (a *attempt) session(ctx context.Context) string {
	session := uuid.NewString()
	if a.claim.Continuation {
		one := 2
		var t schema.Timeline
		if a.persist(ctx, "get_timeline", schema.TimelineParams{TaskID: a.claim.Task.TaskID, MaxLines: &one}, &t) == nil {
			for _, before := range t.Attempts {
				if before.SessionID != "" && before.Status == "awaiting_response" {
					session = before.SessionID
				}
			}
		}
	}
	err := a.persist(ctx, "bind_session", schema.BindSessionParams{
		TaskID: a.claim.Task.TaskID, AttemptID: a.claim.Attempt.AttemptID, LeaseToken: a.claim.Lease.Token, SessionID: session,
	}, new(schema.AttemptReport))
	if err != nil {
		a.say(Trouble, func(e *Event) { e.Message = "bind_session: " + err.Error() })
	}
	return session
}

// surroundings are the variables of the environment that tell a command what it is at.
func (a *attempt) surroundings(session string) []string {
	t := a.claim.Task
	env := append([]string(nil), a.o.Env...)
	add := func(name, value string) {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	add("WAYBILL_TASK_ID", t.TaskID)
	add("WAYBILL_ATTEMPT_ID", a.claim.Attempt.AttemptID)
	add("WAYBILL_ATTEMPT_NUMBER", strconv.Itoa(a.claim.Attempt.AttemptNumber))
	add("WAYBILL_SESSION_ID", session)
	add("WAYBILL_RUN_ID", t.RunID)
	add("WAYBILL_ROLE", t.Role)
	if a.claim.Continuation {
		add("WAYBILL_CONTINUATION", "1")
	}
	if m := a.claim.Attempt.Model; m != nil {
		add("WAYBILL_PROVIDER_ID", m.ProviderID)
		add("WAYBILL_MODEL_ID", m.ModelID)
		add("WAYBILL_MODEL_VARIANT", m.Variant)
	}
	return env
}

// renew gives signs of life until ctx ends, and has the command ended when it is not to go on.
func (a *attempt) renew(ctx context.Context, stop context.CancelCauseFunc) {
	p := schema.HeartbeatParams{TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token}
	for pause(ctx, a.o.Lease/3) {
		var r schema.HeartbeatResult
		switch err := a.o.Call(ctx, "heartbeat", p, &r); {
		case ctx.Err() != nil:
			return
		case err != nil: // there are two more chances
			a.say(Trouble, func(e *Event) { e.Message = "heartbeat: " + err.Error() })
		case !r.Applied:
			stop(errLost)
			return
		case r.CancelRequested:
			stop(errWithdrawn)
		}
	}
}

// report tells the store what came out of the command, and everybody what became of that.
func (a *attempt) report(ctx context.Context, p product, cause error) {
	finish := schema.FinishAttemptParams{TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token}
	kind := Failed
	switch {
	case errors.Is(cause, errLost):
		a.say(Lost, func(e *Event) { e.Message = errLost.Error() })
		return
	case errors.Is(cause, errWithdrawn):
		kind, finish.Status = Cancelled, "cancelled"
	case errors.Is(cause, context.DeadlineExceeded):
		finish.Status, finish.Error = "error", &schema.ErrorSaid{
			Name: "TimeoutError", Class: "transient", Message: fmt.Sprintf("the command was ended after %v", a.o.Timeout),
		}
	case cause != nil:
		kind, finish.Status = Interrupted, "interrupted"
	case p.err == nil && p.code == 0 && a.judged():
		a.submit(ctx, p)
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
	finish.Output = p.output
	a.finish(ctx, kind, finish)
}

// question gives what stands behind "QUESTION: " on the last line, or else nothing: then all of the output is the question.
func question(output string) string {
	output = strings.TrimSpace(output)
	text, ok := strings.CutPrefix(output[strings.LastIndexByte(output, '\n')+1:], "QUESTION: ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(text)
}

func (a *attempt) finish(ctx context.Context, kind string, p schema.FinishAttemptParams) {
	var r schema.FinishAttemptResult
	if err := a.persist(ctx, "finish_attempt", p, &r); err != nil {
		a.say(Trouble, func(e *Event) { e.Message = "finish_attempt: " + err.Error() })
		return
	}
	if !r.Applied {
		kind = Lost
	}
	a.say(kind, func(e *Event) {
		e.Status = r.Task.Status
		if p.Error != nil {
			e.Message = p.Error.Message
		}
	})
}

// submit has the result judged.
func (a *attempt) submit(ctx context.Context, p product) {
	var r schema.IngestOutputResult
	err := a.persist(ctx, "ingest_output", schema.IngestOutputParams{
		RunID: a.claim.Task.RunID, Role: a.claim.Task.Role, Output: &p.output,
		TaskID: a.claim.Task.TaskID, AttemptID: a.claim.Attempt.AttemptID, LeaseToken: a.claim.Lease.Token,
	}, &r)
	if err != nil {
		// It may be that the run is over. Then the task is to be over, too.
		a.finish(ctx, Failed, schema.FinishAttemptParams{
			TaskID: a.claim.Task.TaskID, LeaseToken: a.claim.Lease.Token, Status: "error", Retry: "never",
			Error: &schema.ErrorSaid{Message: "the result was not taken: " + err.Error(), Class: "terminal"},
		})
		return
	}
	if !r.Applied {
		a.say(Lost, func(e *Event) { e.Message = errLost.Error() })
		return
	}
	a.say(Completed, func(e *Event) {
		e.Verdict, e.Next = r.Verdict, r.NextAction
		if r.Task != nil {
			e.Status = r.Task.Status
		}
		if len(r.Errors) > 0 {
			e.Message = r.Errors[0].Message
		}
	})
}
