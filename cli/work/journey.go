package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"waybill/schema"
)

// A journey takes one item of a plan from where its run is to its end.
type journey struct {
	*walk
	item   string
	beside bool // whether it may be worked on beside others
	run    schema.Run
	stood  string      // how the run stands, as far as that is known
	waits  atomic.Bool // for the answer of a person
}

// A step is what a run does next.
type step struct {
	action, role string
	prompt       string // of a retry; "" if it is to be compiled
	standing     string // of the run
}

// errMoved says that the run is not where it was when the step was said.
var errMoved = errors.New("the run has moved")

// say tells of the item.
func (j *journey) say(kind, message string) {
	j.tell(Event{Kind: kind, Plan: j.plan, ItemID: j.item, RunID: j.run.RunID, Message: message})
}

// travel goes on until the item is done, or cannot go on without a person, or nothing new is to be begun.
func (j *journey) travel(ctx context.Context) {
	err := j.begin(ctx)
	for err == nil && !j.closing() {
		var next step
		if next, err = j.next(ctx); err != nil {
			break
		}
		switch next.action {
		case "advance_to_next_item", "plan_completed":
			j.arrive(ctx)
			return
		case "halt_and_escalate":
			j.stop(ctx)
			return
		}
		var over schema.Task
		if over, err = j.carry(ctx, next); err == nil {
			if over.TaskID == "" {
				return // it is said why
			}
			err = j.leave(ctx, next, over)
		}
		if errors.Is(err, errMoved) {
			err = nil
		}
	}
	if err != nil && !j.closing() {
		j.say(Halted, err.Error())
	}
}

// leave makes sure that the run has moved with the task that is over.
func (j *journey) leave(ctx context.Context, before step, t schema.Task) error {
	ctx = context.WithoutCancel(ctx) // also on the way out
	after, err := j.next(ctx)
	switch {
	case err != nil:
		return err
	case after != before:
		return j.hear(ctx, t)
	case t.Status == "COMPLETE":
		return fmt.Errorf("task %s was completed, but nobody had its result judged", t.TaskID)
	case t.Error != nil:
		return fmt.Errorf("task %s ended in %s: %s", t.TaskID, t.Status, t.Error.Message)
	}
	return fmt.Errorf("task %s ended in %s %s", t.TaskID, t.Status, t.Reason)
}

// wishes is how often something is asked for again that may be possible in a moment, such as a plan that is being written.
const wishes = 5

// wish is persist for what depends on the file of the plan.
func (j *journey) wish(ctx context.Context, method string, params, result any) (err error) {
	for range wishes {
		if err = j.persist(ctx, method, params, result); !mayPass(err) || !pause(j.claiming, again) {
			return err
		}
	}
	return err
}

func (j *journey) begin(ctx context.Context) error {
	var r schema.InitRunResult
	if err := j.wish(ctx, "init_run", schema.InitRunParams{Plan: j.plan, ItemID: j.item}, &r); err != nil {
		return err
	}
	j.run, j.stood = r.Run, standing(r.Run)
	j.say(Begun, "")
	return nil
}

// next gives what the run does next.
func (j *journey) next(ctx context.Context) (step, error) {
	var r schema.ResumeRunResult
	if err := j.wish(ctx, "resume_run", schema.ResumeRunParams{Plan: j.plan, ItemID: j.item}, &r); err != nil {
		return step{}, err
	}
	j.run, j.stood = r.Run, standing(r.Run)
	return step{action: r.NextAction, role: r.Next.Role, prompt: r.RetryPrompt, standing: j.stood}, nil
}

// arrive ends the journey of an item that was approved.
func (j *journey) arrive(ctx context.Context) {
	trouble := ""
	if j.o.Tick {
		p := schema.SetItemStatusParams{Plan: j.plan, ItemID: j.item, Status: "completed"}
		if err := j.wish(ctx, "set_item_status", p, new(schema.SetItemStatusResult)); err != nil {
			trouble = "its box could not be ticked: " + err.Error()
		}
	}
	j.say(Approved, trouble)
}

// stop ends the journey of an item that is blocked, or approved while what is left is held back by something else.
func (j *journey) stop(ctx context.Context) {
	switch {
	case j.run.State == "done":
		j.arrive(ctx)
	case j.run.Reason != "":
		j.say(Halted, "its run is blocked by "+j.run.Reason)
	default:
		j.say(Halted, "its run is "+j.run.State)
	}
}

// unfinished are the statuses of tasks that are to be worked on, now or later.
var unfinished = []string{"QUEUED", "RUNNING", "AWAITING_RESPONSE"}

// carry has the task of a step worked on until it is over. The task that it gives has no id if it is not over and nothing
// is to be waited for any more.
func (j *journey) carry(ctx context.Context, next step) (schema.Task, error) {
	id, err := j.underway(ctx)
	if id == "" && err == nil {
		id, err = j.make(ctx, next)
	}
	if err != nil {
		return schema.Task{}, err
	}
	return j.work(ctx, id)
}

// underway gives a task of the run that is to be worked on, whoever has made it, or "".
func (j *journey) underway(ctx context.Context) (string, error) {
	one := 1
	for _, status := range unfinished {
		p := schema.ListTasksParams{RunID: j.run.RunID, Status: status, Page: schema.Page{Limit: &one}}
		var page schema.TaskList
		if err := j.persist(ctx, "list_tasks", p, &page); err != nil {
			return "", err
		}
		if len(page.Items) > 0 {
			return page.Items[0].TaskID, nil
		}
	}
	return "", nil
}

// make makes the task of a step. Of all who do that while the run stands as it does, all get the same one; when that is
// over and has not moved the run, the next one.
func (j *journey) make(ctx context.Context, next step) (string, error) {
	prompt := next.prompt
	if prompt == "" {
		var c schema.CompilePromptResult
		if err := j.wish(ctx, "compile_prompt", schema.CompilePromptParams{RunID: j.run.RunID, Role: next.role}, &c); err != nil {
			return "", err
		}
		prompt = c.Prompt
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
		made, err := j.made(ctx, p)
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

// made makes a task, or gives that which was made under the key, as it is now. One that somebody has made of another
// prompt, or for other models, is found as well: it is the newest of the run.
func (j *journey) made(ctx context.Context, p schema.CreateTaskParams) (schema.Task, error) {
	var r schema.TaskResult
	err := j.persist(ctx, "create_task", p, &r)
	if fault, ok := errors.AsType[*schema.Error](err); ok && fault.Data.Code == schema.IdempotencyClash {
		one := 1
		var page schema.TaskList
		newest := schema.ListTasksParams{RunID: p.RunID, Order: "newest", Page: schema.Page{Limit: &one}}
		if err := j.persist(ctx, "list_tasks", newest, &page); err != nil {
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
	err = j.persist(ctx, "get_task", schema.TaskParams{TaskID: r.Task.TaskID}, &d)
	return d.Task, err
}

// key gives an idempotency key.
func key(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return "work-" + hex.EncodeToString(sum[:16])
}

// work works on a task of the run until it is over, as carry says.
func (j *journey) work(ctx context.Context, id string) (schema.Task, error) {
	defer j.waits.Store(false)
	for {
		var d schema.TaskDetail
		err := j.persist(context.WithoutCancel(ctx), "get_task", schema.TaskParams{TaskID: id}, &d)
		if err != nil {
			return schema.Task{}, err
		}
		asks := d.Task.Status == "AWAITING_RESPONSE"
		switch {
		case !slices.Contains(unfinished, d.Task.Status):
			return d.Task, nil
		case j.closing():
			return schema.Task{}, nil
		case asks && !j.waits.Load():
			j.say(Waits, "a person is asked by "+id)
			if !j.o.Stay {
				return schema.Task{}, nil
			}
		case d.Task.Status == "QUEUED" && len(d.Task.WaitingFor) == 0:
			claimed, err := j.take(ctx)
			if err != nil {
				return schema.Task{}, err
			}
			if claimed {
				continue
			}
		}
		j.waits.Store(asks)
		pause(j.claiming, again)
	}
}

// hear consumes the notices about a task that is over and behind which the run goes on, for it is this process that is
// told. Those of what nobody goes on with stay until a person has seen to it.
func (j *journey) hear(ctx context.Context, t schema.Task) error {
	if t.ParentSessionID != j.run.RunID {
		return nil
	}
	p := schema.ListNoticesParams{SessionID: j.run.RunID, Peek: true}
	var ids []string
	for {
		var page schema.NoticeList
		if err := j.persist(ctx, "list_notices", p, &page); err != nil {
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
	return j.persist(ctx, "consume_notices", schema.ConsumeNoticesParams{NoticeIDs: ids}, new(schema.ConsumeNoticesResult))
}

// take claims a task of the run and works on it, and reports whether there was one.
func (j *journey) take(ctx context.Context) (claimed bool, err error) {
	if !j.desk.sit(j.claiming, j.beside) {
		return false, nil
	}
	defer j.desk.rise()
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
	j.waits.Store(false)
	j.attend(ctx, c, Event{Plan: j.plan, ItemID: j.item})
	return true, nil
}
