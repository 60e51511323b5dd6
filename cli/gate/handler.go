// Package gate decides what an agent is handed at an event of its host, and whether it may stop: instructions and the resume
// anchor go to the agent, tool calls acknowledge them, and a stop is held until they are acknowledged and the checks are green.
//
// These rules hold:
//
//   - A text that the host did not take counts as not sent. Only an event whose answer reaches the model uses up a send.
//   - A stop is held at most as often as the host's row says. Then the agent may stop, and a notice says what is open.
//   - It runs only checks that a person trusts.
//   - In a workspace without a store it creates none, except for a question or a stop that was let go.
//
// It reads no event and writes no answer: a front door translates both.
package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"waybill/cli/hook/dialect"
	"waybill/schema"
)

// ErrLate is the cause of a context that ends because the host waits no longer.
var ErrLate = errors.New("the time is over")

// A Handler acts on one event of an agent.
type Handler struct {
	Store *Store
	Host  dialect.Host
	In    dialect.Input
	// Session names the session whose instructions the agent receives; "" means that of the host, and the default one.
	Session string
	// Command is the command of waybill that acts, as receipts name it.
	Command string

	sends []func() // take back what was handed out
}

// own returns the session of the agent, or "" if neither the person nor the host names one.
func (r *Handler) own() string { return cmp.Or(r.Session, r.In.Session) }

// OnUndo has Undo call fn.
func (r *Handler) OnUndo(fn func()) { r.sends = append(r.sends, fn) }

// Undo takes back the sends of an answer that the host did not take.
func (r *Handler) Undo() {
	for _, undo := range r.sends {
		undo()
	}
}

// Guard runs fn and returns its panic as an error: with the exit code of a panic, Claude Code would refuse a prompt.
func Guard(fn func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("a fault in waybill: %v, at %s", fault, debug.Stack())
		}
	}()
	return fn()
}

// Act does what the event asks for.
func (r *Handler) Act(ctx context.Context) (a dialect.Answer, err error) {
	switch r.In.Kind {
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
func (r *Handler) sessions() ([]string, error) {
	switch {
	case r.own() == "":
		return nil, errors.New("the event names no session; --session names one")
	case r.In.Kind == dialect.SubagentStop:
		return []string{r.In.Agent}, nil
	}
	sessions := []string{r.own()}
	if r.In.Agent != "" {
		sessions = append(sessions, r.In.Agent)
	}
	if r.Session == "" && r.own() != defaultSession {
		sessions = append(sessions, defaultSession)
	}
	return sessions, nil
}

// defaultSession is the session of instructions that name none.
const defaultSession = "default"

// open opens the store of the workspace. Without create, it reports whether there is one.
func (r *Handler) open(create bool) (bool, error) { return r.Store.open(create) }

// call carries out a method. Its answer may hold what must be taken back if the host does not take it.
func (r *Handler) call(ctx context.Context, method string, params, result any) error {
	undo, err := r.Store.call(ctx, method, params, result)
	if undo != nil {
		r.OnUndo(undo)
	}
	return err
}

// tell posts a notice, once for each key.
func (r *Handler) tell(ctx context.Context, kind, key, text string, data map[string]any) error {
	session := cmp.Or(r.own(), defaultSession)
	if data == nil {
		data = map[string]any{}
	}
	data["host"], data["event"] = r.In.Host, r.In.Name
	encoded, err := json.Marshal(data)
	if err != nil {
		return err
	}
	p := schema.ReportEventParams{Type: kind, SessionID: session, Data: encoded, Notice: text}
	if key != "" {
		p.IdempotencyKey = digest(r.Host.Name, session, kind, key)
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

// Report posts a notice about an error, if there is a store that can be written, and returns the error.
func (r *Handler) Report(ctx context.Context, err error) error {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if ok, _ := r.open(false); ok {
		_ = r.tell(ctx, "hook_failed", err.Error(), fmt.Sprintf("a hook of %s failed and let the agent go on: %v", r.In.Host, err), nil)
	}
	return err
}
