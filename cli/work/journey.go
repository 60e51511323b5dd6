package work

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"waybill/schema"
)

// A journey takes one item of a plan from where its run is to its end.
type journey struct {
	*walk
	item  string
	run   schema.Run
	waits atomic.Bool // for the answer of a person, or for somebody else
	end   string      // how it ended
}

// A step is what a run does next.
type step struct {
	action, role, prompt string
	counters             string // of the run, to tell whether it has moved
}

// say tells of the item.
func (j *journey) say(kind, message string) {
	j.tell(Event{Kind: kind, Plan: j.plan, ItemID: j.item, RunID: j.run.RunID, Message: message})
}

// halt ends the journey where a person has to look at it.
func (j *journey) halt(format string, args ...any) string {
	j.say(Halted, fmt.Sprintf(format, args...))
	return Halted
}

// travel gives how the journey ended.
func (j *journey) travel(ctx context.Context) string {
	next, err := j.begin(ctx)
	for err == nil {
		switch next.action {
		case "advance_to_next_item", "plan_completed":
			return j.arrive(ctx)
		case "halt_and_escalate":
			return j.stop(ctx)
		}
		var task string
		if task, err = j.task(ctx, next); err != nil {
			break
		}
		var t schema.Task
		if t, err = j.work(ctx, task); err != nil || t.TaskID == "" {
			break
		}
		before := next
		if next, err = j.resume(ctx); err == nil && next == before && !unfinished(t.Status) && t.Status != "COMPLETE" {
			return j.halt("task %s ended in %s: %s", t.TaskID, t.Status, reason(t))
		}
		if err == nil {
			err = j.hear(ctx, t)
		}
	}
	switch {
	case err == nil || j.claiming.Err() != nil:
		return Waits
	default:
		return j.halt("%v", err)
	}
}

// reason says why a task ended as it did.
func reason(t schema.Task) string {
	if t.Error != nil {
		return t.Error.Message
	}
	return t.Reason
}

func (j *journey) begin(ctx context.Context) (step, error) {
	var r schema.InitRunResult
	if err := j.persist(ctx, "init_run", schema.InitRunParams{Plan: j.plan, ItemID: j.item}, &r); err != nil {
		return step{}, err
	}
	j.run = r.Run
	j.say(Begun, "")
	return stepOf(r.Run, r.NextAction, r.Next, r.RetryPrompt), nil
}

func (j *journey) resume(ctx context.Context) (step, error) {
	var r schema.ResumeRunResult
	if err := j.persist(ctx, "resume_run", schema.ResumeRunParams{Plan: j.plan, ItemID: j.item}, &r); err != nil {
		return step{}, err
	}
	j.run = r.Run
	return stepOf(r.Run, r.NextAction, r.Next, r.RetryPrompt), nil
}

func stepOf(r schema.Run, action string, next schema.Next, retryPrompt string) step {
	return step{action: action, role: next.Role, prompt: retryPrompt, counters: fmt.Sprint(r.RunID, r.Counters, r.Standing, r.PlanVersion)}
}

// arrive ends the journey of an item that was approved.
func (j *journey) arrive(ctx context.Context) string {
	trouble := ""
	if j.o.Tick {
		p := schema.SetItemStatusParams{Plan: j.plan, ItemID: j.item, Status: "completed"}
		if err := j.persist(ctx, "set_item_status", p, new(schema.SetItemStatusResult)); err != nil {
			trouble = "its box could not be ticked: " + err.Error()
		}
	}
	j.say(Approved, trouble)
	return Approved
}

// stop ends the journey of an item that is blocked, or approved while what is left is held back by something else.
func (j *journey) stop(ctx context.Context) string {
	if j.run.State == "done" {
		return j.arrive(ctx)
	}
	return j.halt("its run is blocked by %s", j.run.Reason)
}

// unfinished reports whether a task is to be worked on, now or later.
func unfinished(status string) bool {
	return status == "QUEUED" || status == "RUNNING" || status == "AWAITING_RESPONSE"
}

// task gives the task of the run that is under way, or makes the one that is next.
func (j *journey) task(ctx context.Context, next step) (string, error) {
	for {
		newest, err := j.newest(ctx)
		if unfinished(newest.Status) || err != nil {
			return newest.TaskID, err
		}
		prompt := next.prompt
		if prompt == "" {
			var c schema.CompilePromptResult
			if err := j.persist(ctx, "compile_prompt", schema.CompilePromptParams{RunID: j.run.RunID, Role: next.role}, &c); err != nil {
				return "", err
			}
			prompt = c.Prompt
		}
		p := schema.CreateTaskParams{
			Prompt: prompt, RunID: j.run.RunID, Role: next.role, Models: j.o.Models,
			Description: fmt.Sprintf("%s %s: %s", j.plan, j.item, next.role), ParentSessionID: j.o.Worker,
		}
		if j.o.MaxAttempts > 0 {
			p.MaxAttempts = &j.o.MaxAttempts
		}
		// Another process that walks the same plan makes the same task.
		p.IdempotencyKey = fmt.Sprintf("work:%s:%s:%s", j.run.RunID, next.role, newest.TaskID)
		var r schema.TaskResult
		err = j.persist(ctx, "create_task", p, &r)
		if fault, ok := errors.AsType[*schema.Error](err); ok && fault.Data.Code == schema.IdempotencyClash {
			// It has, of another prompt. Once that task is over the run is not where it was.
			if next, err = j.resume(ctx); err == nil && pause(j.claiming, again) {
				continue
			}
		}
		return r.Task.TaskID, err
	}
}

// newest gives the task of the run that is to be worked on, or else the one that was made last; without an id if there
// is none.
func (j *journey) newest(ctx context.Context) (schema.Task, error) {
	var page schema.TaskList
	if err := j.persist(ctx, "list_tasks", schema.ListTasksParams{RunID: j.run.RunID, Order: "newest"}, &page); err != nil {
		return schema.Task{}, err
	}
	for _, t := range page.Items {
		if unfinished(t.Status) {
			return t, nil
		}
	}
	if len(page.Items) > 0 {
		return page.Items[0], nil
	}
	return schema.Task{}, nil
}

// work works on a task of the run until it is over. The task that it gives has no id if it is not over and nothing is to
// be waited for any more.
func (j *journey) work(ctx context.Context, id string) (schema.Task, error) {
	defer j.waits.Store(false)
	for j.claiming.Err() == nil {
		claimed, err := j.take(ctx)
		if err != nil {
			return schema.Task{}, err
		}
		var d schema.TaskDetail
		if err := j.persist(ctx, "get_task", schema.TaskParams{TaskID: id}, &d); err != nil {
			return schema.Task{}, err
		}
		if !unfinished(d.Task.Status) {
			return d.Task, nil
		}
		if claimed {
			continue
		}
		if d.Task.Status == "AWAITING_RESPONSE" && !j.o.Stay {
			j.say(Waits, "a person is asked: "+id)
			return schema.Task{}, nil
		}
		if d.Task.Status != "QUEUED" && !j.waits.Swap(true) {
			j.say(Waits, fmt.Sprintf("%s is %s", id, d.Task.Status))
		}
		pause(j.claiming, again)
	}
	return schema.Task{}, nil
}

// hear consumes the notices about a task that is over and behind which the run goes on, for it is this process that is
// told. Those of what nobody goes on with stay until a person has seen to it.
func (j *journey) hear(ctx context.Context, t schema.Task) error {
	if t.ParentSessionID != j.o.Worker {
		return nil
	}
	var list schema.NoticeList
	if err := j.persist(ctx, "list_notices", schema.ListNoticesParams{SessionID: j.o.Worker, Peek: true}, &list); err != nil {
		return err
	}
	var ids []string
	for _, n := range list.Items {
		if n.SubjectID == t.TaskID || n.Kind == "tasks.all_finished" {
			ids = append(ids, n.NoticeID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return j.persist(ctx, "consume_notices", schema.ConsumeNoticesParams{NoticeIDs: ids}, new(schema.ConsumeNoticesResult))
}

// take claims a task of the run and works on it, and reports whether there was one.
func (j *journey) take(ctx context.Context) (claimed bool, err error) {
	select {
	case j.slots <- struct{}{}:
	case <-j.claiming.Done():
		return false, nil
	}
	defer func() { <-j.slots }()
	claim, err := j.claim(j.claiming, j.run.RunID, "", false)
	switch {
	case err != nil && j.claiming.Err() != nil:
		return false, nil
	case err != nil || claim == nil:
		return false, err
	}
	j.waits.Store(false)
	j.attend(ctx, claim, Event{Plan: j.plan, ItemID: j.item})
	return true, nil
}
