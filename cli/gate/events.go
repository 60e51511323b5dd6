package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// question posts a notice that the agent asks a person in a dialog of the host. It answers nothing for the person.
func (r *Handler) question(ctx context.Context) error {
	if _, err := r.open(true); err != nil {
		return err
	}
	text := fmt.Sprintf("an agent asks in a dialog of %s: %s", r.In.Host, safetext.Quote(r.In.Question, 300))
	return r.tell(ctx, "question", r.In.Use, text, map[string]any{"question": r.In.Question, "tool_use_id": r.In.Use})
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
		if err := r.Answered(ctx); err != nil {
			return a, err
		}
	}
	switch {
	case r.In.Agent != "" || !r.In.Context:
		return a, nil
	case r.In.PromptTakesContext:
		a.Context, err = r.anchor(ctx)
		return a, err
	}
	return r.handOver(ctx, repeatAge)
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

// Answered consumes the notices about the question that the event asked.
func (r *Handler) Answered(ctx context.Context) error {
	if some, err := r.open(false); err != nil || !some {
		return err
	}
	var open schema.NoticeList
	if err := r.call(ctx, "list_notices", schema.ListNoticesParams{SessionID: cmp.Or(r.own(), defaultSession), Peek: true}, &open); err != nil {
		return err
	}
	var ids []string
	for _, n := range open.Items {
		var about struct {
			Question string `json:"question"`
			Use      string `json:"tool_use_id"`
		}
		if json.Unmarshal(n.Data, &about) == nil && about.Question == r.In.Question && about.Use == r.In.Use {
			ids = append(ids, n.NoticeID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return r.call(ctx, "consume_notices", schema.ConsumeNoticesParams{NoticeIDs: ids}, nil)
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
