package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"waybill/cli/hook/dialect"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/schema"
)

// A runner acts on one event.
type runner struct {
	*hook
	in    dialect.Input
	times times
	own   string // the session of the agent: that of --session, or that of the host; "" if neither names one
	ws    workspace.Workspace
	local *program.Local // nil until something needs the store
	sends []func()       // take back what was handed out
}

// answer acts on the event within the time of ctx, and writes the answer. It takes back the sends of an answer that the host
// does not take, also if the work ends only after the answer had to be written.
func (r *runner) answer(ctx context.Context, act func(context.Context) (dialect.Answer, error)) error {
	type result struct {
		answer dialect.Answer
		err    error
	}
	acted := make(chan result, 1)
	go func() { // ends after what ctx bounds, or with the process
		var got result
		got.err = guard(func() (err error) {
			got.answer, err = act(ctx)
			return err
		})
		if got.err != nil {
			got.err = errors.Join(got.err, guard(func() error {
				_ = r.reported(ctx, got.err)
				return nil
			}))
		}
		acted <- got
	}()
	var got result
	select {
	case got = <-acted:
	case <-time.After(time.Until(r.times.answer)):
		_, err := r.write(r.in.Event, dialect.Answer{})
		select {
		case <-acted:
			r.finish(false)
		case <-time.After(time.Until(r.times.undo)): // the work goes on, so nothing here may be read
		}
		return errors.Join(fmt.Errorf("gave up on %s: %w", r.in.Name, errLate), err)
	}
	if got.err != nil {
		got.answer = dialect.Answer{}
	}
	handedOver, err := r.write(r.in.Event, got.answer)
	r.finish(handedOver && got.err == nil)
	return errors.Join(got.err, err)
}

// finish takes back the sends of an answer that was not handed over, and closes the store so that all of it is written.
func (r *runner) finish(handedOver bool) {
	if !handedOver {
		for _, undo := range r.sends {
			undo()
		}
	}
	if r.local != nil {
		r.local.Backend.Abandon(time.Until(r.times.end))
	}
}

// write writes the answer to an event.
func (h *hook) write(ev dialect.Event, a dialect.Answer) (handedOver bool, err error) {
	var text []byte
	err = guard(func() (err error) {
		text, err = h.host.Write(ev, a)
		return err
	})
	if err == nil && len(text) > 0 {
		if _, err = h.Out.Write(text); err != nil {
			err = fmt.Errorf("the host did not take the answer, so nothing counts as sent: %w", err)
		}
	}
	return err == nil, err
}

// act does what the event asks for.
func (r *runner) act(ctx context.Context) (a dialect.Answer, err error) {
	switch r.in.Kind {
	case dialect.SessionStart:
		return r.start(ctx)
	case dialect.Prompt:
		return r.handOver(ctx, 0)
	case dialect.Question:
		return a, r.question(ctx)
	case dialect.Tool, dialect.ToolFailed:
		return r.tool(ctx)
	case dialect.Stop, dialect.SubagentStop:
		return r.stop(ctx)
	case dialect.Compact:
		return a, r.compact()
	}
	return a, nil // a tool that asks nothing, from a host that ignores matchers
}

// sessions returns the sessions that the event belongs to. The first is that of the agent. A subagent shares the tool calls of
// its parent, and not its instructions.
func (r *runner) sessions() ([]string, error) {
	switch {
	case r.own == "":
		return nil, errors.New("the event names no session; --session names one")
	case r.in.Kind == dialect.SubagentStop:
		return []string{r.in.Agent}, nil
	}
	sessions := []string{r.own}
	if r.in.Agent != "" {
		sessions = append(sessions, r.in.Agent)
	}
	if r.session == "" && r.own != defaultSession {
		sessions = append(sessions, defaultSession)
	}
	return sessions, nil
}

// defaultSession is the session of instructions that name none.
const defaultSession = "default"

// place finds the workspace.
func (r *runner) place() error {
	if r.ws.Root != "" {
		return nil
	}
	if r.App.Workspace == "" && r.Env("WAYBILL_WORKSPACE") == "" {
		r.App.Workspace = r.in.Folder // of a host that runs its hooks elsewhere
	}
	ws, err := workspace.Resolve(r.Sources())
	if err != nil {
		return errors.New("there is no workspace: no folder from here upwards has a tasks.md or .git, and --workspace names none; waybill where says more")
	}
	r.ws = ws
	return nil
}

// open opens the store of the workspace. Without create, it reports whether there is one.
func (r *runner) open(create bool) (bool, error) {
	if r.local != nil {
		return true, nil
	}
	if err := r.place(); err != nil {
		return false, err
	}
	if !create && !r.StoreExists() {
		return false, nil
	}
	quiet := *r.App
	quiet.Brief = r.in.Kind == dialect.Tool || r.in.Kind == dialect.ToolFailed || r.in.Kind == dialect.Prompt // the most frequent ones
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return false, err
	}
	quiet.Err = null // warnings of the engine are notices, too, and a hook says one line at most
	r.local, err = quiet.Local()
	return err == nil, err
}

// call carries out a method. Its answer may hold what must be taken back if the host does not take it.
func (r *runner) call(ctx context.Context, method string, params, result any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer, err := r.local.CarryOut(ctx, method, text)
	for busy(err) && ctx.Err() == nil { // the store has waited for its lock already, and applied nothing
		answer, err = r.local.CarryOut(ctx, method, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if answer.Undelivered != nil {
		r.sends = append(r.sends, answer.Undelivered)
	}
	encoded, err := json.Marshal(answer.Result)
	if err == nil && result != nil {
		err = json.Unmarshal(encoded, result)
	}
	return err
}

// busy reports whether a call was refused only because other processes held the store for too long.
func busy(err error) bool {
	fault, ok := errors.AsType[*schema.Error](err)
	return ok && fault.Data.Code == schema.StoreBusy
}

// tell posts a notice, once for each key.
func (r *runner) tell(ctx context.Context, kind, key, text string, data map[string]any) error {
	session := cmp.Or(r.own, defaultSession)
	if data == nil {
		data = map[string]any{}
	}
	data["host"], data["event"] = r.in.Host, r.in.Name
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	p := schema.ReportEventParams{Type: kind, SessionID: session, Data: encoded, Notice: text}
	if key != "" {
		p.IdempotencyKey = digest(r.host.Name, session, kind, key)
	}
	return r.call(ctx, "report_event", p, nil)
}

// digest returns a short name for words.
func digest(words ...string) string {
	sum := sha256.New()
	for _, word := range words {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(word), word)
	}
	return "hook-" + hex.EncodeToString(sum.Sum(nil))[:24]
}

// reported posts a notice about an error, if there is a store that can be written, and returns the error.
func (r *runner) reported(ctx context.Context, err error) error {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if ok, _ := r.open(false); ok {
		_ = r.tell(ctx, "hook_failed", err.Error(), fmt.Sprintf("a hook of %s failed and let the agent go on: %v", r.in.Host, err), nil)
	}
	return err
}
