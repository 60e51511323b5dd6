package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"waybill/cli/hook/dialect"
	"waybill/internal/safetext"
	"waybill/schema"
)

// start returns the resume anchor. It dispatches nothing: the model has not run, so a send would be used up for nothing.
func (r *Handler) start(ctx context.Context) (a dialect.Answer, err error) {
	some, err := r.open(false)
	if err != nil || !some {
		return a, err
	}
	sweep(r.Store.folder())
	a.Context, err = r.anchor(ctx)
	return a, err
}

// anchor returns the text that an agent needs to go on, or "". It is due at the start of a session and once after a
// compaction: if the host does not take the text, it is due again.
func (r *Handler) anchor(ctx context.Context) (string, error) {
	if r.unmark(compacted) {
		r.OnUndo(func() { _ = r.mark(compacted, "") })
	} else if r.In.Kind != dialect.SessionStart {
		return "", nil
	}
	own, err := r.sessions()
	if err != nil {
		return "", err
	}
	var answer schema.CompileAnchorResult
	err = r.call(ctx, "compile_anchor", schema.CompileAnchorParams{SessionID: own[0]}, &answer)
	return answer.Text, err
}

// handOver returns the instructions that are due, behind the anchor if the conversation was compacted.
func (r *Handler) handOver(ctx context.Context, minAgeMS int) (a dialect.Answer, err error) {
	some, err := r.open(false)
	if err != nil || !some || !r.In.Context {
		return a, err
	}
	if a.Context, err = r.anchor(ctx); err != nil {
		return a, err
	}
	texts, lost, err := r.dispatch(ctx, r.Host.MaxContext-len(a.Context), minAgeMS)
	if err != nil {
		return a, err
	}
	if a.Context != "" {
		texts = slices.Insert(texts, 0, a.Context)
	}
	return dialect.Answer{Context: strings.Join(texts, "\n\n"), Person: lost}, nil
}

// leastRoom is the room, in bytes, below which a second session waits for the next event.
const leastRoom = 500

// dispatch does one dispatch pass for each session of the event. It returns the texts for the agent, and what the person
// must know.
func (r *Handler) dispatch(ctx context.Context, room, minAgeMS int) (texts []string, lost string, err error) {
	sessions, err := r.sessions()
	if err != nil {
		return nil, "", err
	}
	var failed []string
	for i, session := range sessions {
		if i > 0 && room < leastRoom {
			break
		}
		bytes := max(room, leastRoom)
		var done schema.DispatchResult
		p := schema.DispatchParams{SessionID: session, MaxBytes: &bytes, MinAgeMS: minAgeMS}
		if err := r.call(ctx, "dispatch_instructions", p, &done); err != nil {
			return texts, "", err
		}
		for _, send := range done.Instructions {
			texts = append(texts, send.Text)
			room -= len(send.Text)
		}
		for _, in := range done.Failed {
			failed = append(failed, fmt.Sprintf("waybill: never confirmed after %d sends: %s", in.Sends, safetext.OneLine(in.Content, 200)))
		}
	}
	return texts, strings.Join(failed, "\n"), nil
}

// question puts the questions of a dialog of the host into the inbox, too. It answers nothing for the person.
func (r *Handler) question(ctx context.Context) error {
	if _, err := r.open(true); err != nil {
		return err
	}
	for i, one := range asksOf(r) {
		if _, err := ask(ctx, r, i, one); err != nil {
			return err
		}
	}
	return nil
}

// asksOf returns the questions of the event. A front door may know their text alone.
func asksOf(r *Handler) []dialect.Ask {
	if len(r.In.Asks) == 0 && r.In.Question != "" {
		return []dialect.Ask{{Text: r.In.Question}}
	}
	return r.In.Asks
}

// ask puts a question into the inbox, and returns its task. The same question of the same tool call has one task. A host that
// does not name its tool calls has one task for all open questions of the same text, and none for one that is not open.
func ask(ctx context.Context, r *Handler, i int, q dialect.Ask) (schema.Task, error) {
	p := schema.AskUserParams{
		SessionID: cmp.Or(r.own(), defaultSession), Question: q.Text, Description: "a dialog of " + r.In.Host,
	}
	if r.In.Use == "" {
		var open schema.AwaitingList
		err := r.call(ctx, "list_awaiting", schema.ListAwaitingParams{}, &open)
		for _, w := range open.Items {
			if w.Question == q.Text && w.Description == p.Description {
				return schema.Task{TaskID: w.TaskID, CurrentAttemptID: w.AttemptID}, nil
			}
		}
		if err != nil || r.In.Kind != dialect.Question {
			return schema.Task{}, err
		}
	} else {
		p.IdempotencyKey = digest(r.Host.Name, p.SessionID, r.In.Use, strconv.Itoa(i), q.Text)
	}
	for _, o := range q.Options {
		p.Options = append(p.Options, schema.Option(o))
	}
	var asked schema.TaskResult
	err := r.call(ctx, "ask_user", p, &asked)
	if fault, ok := errors.AsType[*schema.Error](err); ok && fault.Data.Code == schema.InvalidParams {
		p.Options = nil // the inbox cannot show the options of the dialog
		err = r.call(ctx, "ask_user", p, &asked)
	}
	return asked.Task, err
}

// repeatAge is the age, in milliseconds, below which the events of tools repeat no instruction: a turn has many of them.
const repeatAge = 24 * 60 * 60 * 1000

// tool reports a tool call, so that instructions whose ack_on matches are acknowledged. Where the host takes no text with a
// prompt, it hands over what was never sent.
func (r *Handler) tool(ctx context.Context) (a dialect.Answer, err error) {
	some, err := r.open(false)
	if err != nil || !some {
		return a, err
	}
	sessions, err := r.sessions()
	if err != nil {
		return a, err
	}
	data, err := json.Marshal(r.In.Data)
	if err != nil {
		return a, err
	}
	kind := "tool"
	if r.In.Kind == dialect.ToolFailed {
		kind = "tool_failed"
	}
	if err := r.report(ctx, sessions, kind, data); err != nil {
		return a, err
	}
	if r.In.Question != "" {
		if a.Person, err = r.answered(ctx); err != nil {
			return a, err
		}
	}
	switch {
	case r.In.Agent != "" || !r.In.Context:
		return a, nil
	case r.In.PromptTakesContext && a.Person == "":
		a.Context, err = r.anchor(ctx)
		return a, err
	}
	told := a.Person
	a, err = r.handOver(ctx, repeatAge)
	a.Person = strings.Trim(told+"\n"+a.Person, "\n")
	return a, err
}

// report reports an event for each session. The calls share one commit, because all of them wait while the store opens.
func (r *Handler) report(ctx context.Context, sessions []string, kind string, data []byte) error {
	faults := make([]error, len(sessions))
	var all sync.WaitGroup
	for i, session := range sessions {
		p := schema.ReportEventParams{Type: kind, SessionID: session, Data: data}
		if r.In.Use != "" {
			p.IdempotencyKey = digest(r.Host.Name, session, r.In.Use)
		}
		all.Go(func() {
			faults[i] = Guard(func() error { return r.call(ctx, "report_event", p, nil) })
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// Answered takes the questions of the event out of the inbox, because the dialog of the host has closed.
func (r *Handler) Answered(ctx context.Context) error {
	if some, err := r.open(false); err != nil || !some {
		return err
	}
	_, err := r.answered(ctx)
	return err
}

// answered records the answers of a dialog. Where the inbox was faster, its answer counts: the session has it as an instruction,
// and the person is told.
func (r *Handler) answered(ctx context.Context) (person string, err error) {
	for i, one := range asksOf(r) {
		t, err := ask(ctx, r, i, one)
		if err != nil {
			return person, err
		}
		if t.TaskID == "" {
			continue
		}
		if one.Answer == "" || r.In.Kind == dialect.ToolFailed {
			err = r.call(ctx, "cancel_task", schema.CancelTaskParams{TaskID: t.TaskID, Reason: "the dialog of " + r.In.Host + " has closed"}, nil)
		} else {
			err = r.call(ctx, "reply", schema.ReplyParams{
				TaskID: t.TaskID, Reply: one.Answer, By: "dialog of " + r.In.Host, SessionID: cmp.Or(r.own(), defaultSession), AttemptID: t.CurrentAttemptID,
			}, nil)
		}
		fault, refused := errors.AsType[*schema.Error](err)
		switch {
		case refused && (fault.Data.Code == schema.AlreadyResolved || fault.Data.Code == schema.InvalidState):
			person = "waybill: the question was answered in the inbox first; the agent gets that answer"
		case err != nil:
			return person, err
		}
	}
	return person, nil
}

// compact marks the session, so that its next event that takes a text brings the anchor. The facts of an anchor are in the
// store at all times, so nothing else has to be kept.
func (r *Handler) compact() error {
	some, err := r.open(false)
	if err != nil || !some || r.In.Agent != "" {
		return err
	}
	return r.mark(compacted, "")
}

// Lost ends the attempt of a session whose agent has ended, if it has one, and posts a notice.
func (r *Handler) Lost(ctx context.Context, cause string) error {
	some, err := r.open(false)
	if err != nil || !some {
		return err
	}
	text := fmt.Sprintf("an agent of %s ended in the middle of a session: %s", r.In.Host, safetext.OneLine(cause, 300))
	data, err := json.Marshal(map[string]string{"class": "provider", "name": "AgentEnded"}) // a new attempt may help at once
	if err != nil {
		return err
	}
	p := schema.SessionEventParams{SessionID: cmp.Or(r.own(), defaultSession), Type: "error", Message: text, Data: data}
	return errors.Join(r.call(ctx, "report_session_event", p, nil), r.tell(ctx, "agent_ended", "", text, nil))
}
