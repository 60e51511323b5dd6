package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"waybill/schema"
)

// A itemRunner works on one item of a plan until its run ends or stops.
type itemRunner struct {
	*walk
	item         string
	parallel     bool // other items may run at the same time
	again        bool // this walk has worked on it before
	run          schema.Run
	lastStanding string      // last known standing of the run
	awaitsReply  atomic.Bool // waits for the answer of a person
}

// A step is the next step of a run.
type step struct {
	action, role string
	prompt       string // prompt of a retry; "" if it must be compiled
	standing     string // standing of the run
	checks       string // due checks, separated by commas
	round        int    // of the proof of the run
}

// errMoved says that the run has changed since the step was read.
var errMoved = errors.New("the run has moved")

// say sends an event about the item.
func (j *itemRunner) say(kind, message string) {
	j.tell(Event{Kind: kind, Plan: j.plan, ItemID: j.item, RunID: j.run.RunID, Message: message})
}

// workOnItem works on the item until it is done, needs a person, or the walk is closing.
func (j *itemRunner) workOnItem(ctx context.Context) {
	err := j.begin(ctx)
	for err == nil && !j.closing() {
		var next step
		if next, err = j.next(ctx); err != nil {
			break
		}
		switch next.action {
		case "advance_to_next_item", "plan_completed":
			j.finishItem(ctx)
			return
		case "halt_and_escalate":
			j.stop(ctx)
			return
		case "run_checks":
			err = j.runChecks(ctx, next)
			continue
		}
		var over schema.Task
		if over, err = j.runTask(ctx, next); err == nil {
			if over.TaskID == "" {
				return // an event has told why
			}
			if err = j.confirmMoved(ctx, next, over); err == nil {
				err = j.warnOfFacts(ctx, next.round)
			}
		}
		if errors.Is(err, errMoved) {
			err = nil
		}
	}
	if err != nil && !j.closing() {
		j.say(Halted, err.Error())
	}
}

// confirmMoved checks that the run has moved after a task ended.
func (j *itemRunner) confirmMoved(ctx context.Context, before step, t schema.Task) error {
	ctx = context.WithoutCancel(ctx) // also after ctx ends
	after, err := j.next(ctx)
	switch {
	case err != nil:
		return err
	case after != before:
		return j.consumeNotices(ctx, t)
	case t.Status == "COMPLETE":
		return fmt.Errorf("task %s was completed, but its result was never submitted", t.TaskID)
	case t.Error != nil:
		return fmt.Errorf("task %s ended in %s: %s", t.TaskID, t.Status, t.Error.Message)
	}
	return fmt.Errorf("task %s ended in %s %s", t.TaskID, t.Status, t.Reason)
}

// planRetries is the number of attempts of a call that may succeed in a moment, such as during the writing of a plan.
const planRetries = 5

// callWithRetry is callUntilDone for calls that read the plan file.
func (w *walk) callWithRetry(ctx context.Context, method string, params, result any) (err error) {
	for range planRetries {
		if err = w.callUntilDone(ctx, method, params, result); !mayPassSoon(err) || !pause(w.claiming, pollInterval) {
			return err
		}
	}
	return err
}

func (j *itemRunner) begin(ctx context.Context) error {
	var r schema.InitRunResult
	p := schema.InitRunParams{Plan: j.plan, ItemID: j.item, Policy: j.policy()}
	err := j.describeStart(ctx, &p)
	if err == nil {
		err = j.callWithRetry(ctx, "init_run", p, &r)
	}
	why := ""
	if err == nil && j.differs(r.Run) {
		if j.again { // another process may have begun it, with other checks
			return errors.New("its run does not require the checks of this process")
		}
		j.run, p.Resume, why = r.Run, "new", "its last run did not require the same checks"
		if err = j.describeStart(ctx, &p); err == nil {
			err = j.callWithRetry(ctx, "init_run", p, &r)
		}
	}
	if err != nil {
		return err
	}
	j.run, j.lastStanding = r.Run, standing(r.Run)
	j.say(Begun, why)
	return nil
}

// next returns the next step of the run.
func (j *itemRunner) next(ctx context.Context) (step, error) {
	var r schema.ResumeRunResult
	if err := j.callWithRetry(ctx, "resume_run", schema.ResumeRunParams{Plan: j.plan, ItemID: j.item}, &r); err != nil {
		return step{}, err
	}
	j.run, j.lastStanding = r.Run, standing(r.Run)
	return step{
		action: r.NextAction, role: r.Next.Role, prompt: r.RetryPrompt, standing: j.lastStanding,
		checks: strings.Join(r.Next.Checks, ","), round: r.Run.Proof.Round,
	}, nil
}

// finishItem ends the work on an approved item.
func (j *itemRunner) finishItem(ctx context.Context) {
	trouble := ""
	if j.o.Tick == TickClaimed || j.o.Tick == TickProven && j.run.Proof.State == stateProven {
		p := schema.SetItemStatusParams{Plan: j.plan, ItemID: j.item, Status: "completed"}
		if err := j.callWithRetry(ctx, "set_item_status", p, new(schema.SetItemStatusResult)); err != nil {
			trouble = "its box could not be ticked: " + err.Error()
		}
	}
	j.tell(Event{Kind: Approved, Plan: j.plan, ItemID: j.item, RunID: j.run.RunID, Proof: j.run.Proof.State, Message: trouble})
}

// stop ends the work on an item that is blocked, or approved while other items are held back.
func (j *itemRunner) stop(ctx context.Context) {
	switch {
	case j.run.State == "done":
		j.finishItem(ctx)
	case j.run.Reason != "":
		j.say(Halted, "its run is blocked by "+j.run.Reason)
	default:
		j.say(Halted, "its run is "+j.run.State)
	}
}

// unfinished are the statuses of tasks that need work now or later.
var unfinished = []string{"QUEUED", "RUNNING", "AWAITING_RESPONSE"}

// runTask runs the task of a step until it ends. The task has no id if it has not ended and needs no waiting.
func (j *itemRunner) runTask(ctx context.Context, next step) (schema.Task, error) {
	id, err := j.unfinishedTask(ctx)
	if id == "" && err == nil {
		id, err = j.createTask(ctx, next)
	}
	if err != nil {
		return schema.Task{}, err
	}
	return j.work(ctx, id)
}

// unfinishedTask returns the id of an unfinished task of the run, or "".
func (j *itemRunner) unfinishedTask(ctx context.Context) (string, error) {
	one := 1
	for _, status := range unfinished {
		p := schema.ListTasksParams{RunID: j.run.RunID, Status: status, Page: schema.Page{Limit: &one}}
		var page schema.TaskList
		if err := j.callUntilDone(ctx, "list_tasks", p, &page); err != nil {
			return "", err
		}
		if len(page.Items) > 0 {
			return page.Items[0].TaskID, nil
		}
	}
	return "", nil
}

// createTask creates the task of a step. Processes that do so for the same standing of the run share one task; if that
// has ended without moving the run, the next one.
func (j *itemRunner) createTask(ctx context.Context, next step) (string, error) {
	prompt := next.prompt
	if prompt == "" {
		var c schema.CompilePromptResult
		if err := j.callWithRetry(ctx, "compile_prompt", schema.CompilePromptParams{RunID: j.run.RunID, Role: next.role}, &c); err != nil {
			return "", err
		}
		prompt = c.Prompt
	}
	if next.role == "worker" {
		prompt = j.withAsking(prompt)
	}
	p := schema.CreateTaskParams{
		Prompt: prompt, RunID: j.run.RunID, Role: next.role, Models: j.o.Models,
		Description: fmt.Sprintf("%s %s: %s", j.plan, j.item, next.role), ParentSessionID: j.run.RunID,
	}
	if j.o.MaxAttempts > 0 {
		p.MaxAttempts = &j.o.MaxAttempts
	}
	for last := ""; ; {
		p.IdempotencyKey = key(next.action, next.role, next.standing, last)
		made, err := j.createOrFind(ctx, p)
		if err != nil || slices.Contains(unfinished, made.Status) {
			return made.TaskID, err
		}
		now, err := j.next(ctx)
		if err == nil && now != next {
			err = errMoved
		}
		if err != nil {
			return "", err
		}
		last = made.TaskID
	}
}

// withAsking returns a prompt with instructions for asking a person, in its last section, after the stable prefix. A
// retry prompt has them already.
func (h *host) withAsking(prompt string) string {
	how := fmt.Sprintf("exit with status %d", h.o.Ask)
	if h.o.Marker != "" {
		how = fmt.Sprintf("put the question in the last line of your output, behind %s at its beginning, or %s", h.o.Marker, how)
	}
	line := "Questions: if you cannot go on without an answer of a person, give no result, but " + how + ".\n"
	if strings.Contains(prompt, line) {
		return prompt
	}
	return strings.TrimRight(prompt, "\n") + "\n" + line
}

// createOrFind creates a task, or returns the present state of the one under the same key. If the key was used with
// other params, it returns the newest task of the run.
func (j *itemRunner) createOrFind(ctx context.Context, p schema.CreateTaskParams) (schema.Task, error) {
	var r schema.TaskResult
	err := j.callUntilDone(ctx, "create_task", p, &r)
	if fault, ok := errors.AsType[*schema.Error](err); ok && fault.Data.Code == schema.IdempotencyClash {
		one := 1
		var page schema.TaskList
		newest := schema.ListTasksParams{RunID: p.RunID, Order: "newest", Page: schema.Page{Limit: &one}}
		if err := j.callUntilDone(ctx, "list_tasks", newest, &page); err != nil {
			return schema.Task{}, err
		}
		if len(page.Items) == 0 {
			return schema.Task{}, err
		}
		return page.Items[0], nil
	}
	if err != nil {
		return schema.Task{}, err
	}
	var d schema.TaskDetail
	err = j.callUntilDone(ctx, "get_task", schema.TaskParams{TaskID: r.Task.TaskID}, &d)
	return d.Task, err
}

// key returns an idempotency key.
func key(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return "work-" + hex.EncodeToString(sum[:16])
}

// work runs a task of the run until it ends, as runTask does.
func (j *itemRunner) work(ctx context.Context, id string) (schema.Task, error) {
	defer j.awaitsReply.Store(false)
	for {
		var d schema.TaskDetail
		err := j.callUntilDone(context.WithoutCancel(ctx), "get_task", schema.TaskParams{TaskID: id}, &d)
		if err != nil {
			return schema.Task{}, err
		}
		asks := d.Task.Status == "AWAITING_RESPONSE"
		switch {
		case !slices.Contains(unfinished, d.Task.Status):
			return d.Task, nil
		case j.closing():
			return schema.Task{}, nil
		case asks && !j.awaitsReply.Load():
			j.say(Waits, "a person is asked by "+id)
			if !j.o.Stay {
				return schema.Task{}, nil
			}
		case d.Task.Status == "QUEUED" && len(d.Task.WaitingFor) == 0:
			claimed, err := j.claimOwn(ctx)
			if err != nil {
				return schema.Task{}, err
			}
			if claimed {
				continue
			}
		}
		j.awaitsReply.Store(asks)
		pause(j.claiming, pollInterval)
	}
}

// consumeNotices consumes the notices of an ended task after which the run continues, because this process is their
// reader. Other notices stay for a person.
func (j *itemRunner) consumeNotices(ctx context.Context, t schema.Task) error {
	if t.ParentSessionID != j.run.RunID {
		return nil
	}
	p := schema.ListNoticesParams{SessionID: j.run.RunID, Peek: true}
	var ids []string
	for {
		var page schema.NoticeList
		if err := j.callUntilDone(ctx, "list_notices", p, &page); err != nil {
			return err
		}
		for _, n := range page.Items {
			if n.SubjectID == t.TaskID || n.Kind == "tasks.all_finished" {
				ids = append(ids, n.NoticeID)
			}
		}
		if p.Cursor = page.NextCursor; p.Cursor == "" {
			break
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return j.callUntilDone(ctx, "consume_notices", schema.ConsumeNoticesParams{NoticeIDs: ids}, new(schema.ConsumeNoticesResult))
}

// claimOwn claims and runs a task of the run, and reports whether there was one.
func (j *itemRunner) claimOwn(ctx context.Context) (claimed bool, err error) {
	if !j.slots.acquire(j.claiming, j.parallel) {
		return false, nil
	}
	defer j.slots.release()
	if j.closing() {
		return false, nil
	}
	c, err := j.claim(j.run.RunID, "", false)
	switch {
	case err != nil && j.closing():
		return false, nil
	case err != nil || c.Claim == nil:
		return false, err
	}
	j.awaitsReply.Store(false)
	j.runAttempt(ctx, c, Event{Plan: j.plan, ItemID: j.item})
	return true, nil
}
