// Package acp stands between an editor and a coding agent that speak the Agent Client Protocol, version 1. To the editor it is
// the agent, and to the agent it is the editor.
//
// These rules hold:
//
//   - Lines pass as they came, in the order in which they came. Three messages are changed, each in one place: a prompt gets a
//     text in front, a session gets one more server, and the answer to a held prompt gets the id of the editor's request.
//     Lines that are no message, are too long, or are of a later version of the protocol pass unread.
//   - The end of a turn is held back while the Policy decides. If the turn may not end yet, the agent gets one more prompt.
//   - The editor gets one answer to each request: that of the agent, or an error if the agent has ended.
//   - No fault of the Policy stops the conversation.
//
// It opens no store, runs no check and starts no process. Where another version of the protocol differs, package message and
// the methods editorLine and agentLine are what changes.
package acp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"waybill/wire"
)

// version is the version of the protocol that this package reads.
const version = 1

const (
	// policyTime bounds each call of the Policy that a line waits for.
	policyTime = 10 * time.Second
	// stopTime bounds the decision at the end of a turn, in which checks run.
	stopTime = time.Hour
	// exitTime is how long an agent may go on after its input has ended.
	exitTime = 5 * time.Second
	// flushTime bounds the wait for the reports at the end.
	flushTime = 3 * time.Second
)

// A Pipe is the two directions of a connection with one line a message.
type Pipe struct {
	In  io.ReadCloser
	Out io.WriteCloser
}

// Options configures Run. All fields are required.
type Options struct {
	Editor, Agent Pipe
	Policy        Policy
	// Ended is called when the output of the agent has ended. It says how the agent ended, such as "exit status 1".
	Ended  func() string
	Logger *slog.Logger
	// MaxMessageBytes limits the messages that are examined. Longer ones pass unread.
	MaxMessageBytes int
}

// ErrAgentEnded is the error of Run if the agent ended before its editor did.
var ErrAgentEnded = errors.New("the agent ended")

// A proxy is one conversation.
type proxy struct {
	Options
	editor, agent *outlet
	prefix        string // of the ids of requests that no side but this one made
	foreign       atomic.Bool
	reports       reports
	work          sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	state state
}

// A state holds the open requests, turns and sessions.
type state struct {
	requests map[string]*request // of the editor, without an answer, by id
	asked    map[string]asked    // by the agent, without an answer, by id
	turns    map[string]*turn    // by session: the turn that has not ended
	sent     map[string]*turn    // by the id of a request of this proxy
	open     map[string]bool     // sessions
	loading  map[string]bool     // sessions whose earlier updates the agent repeats
	calls    calls
	ids      int
	gone     bool // the editor has gone
}

// A request is a request of the editor that has no answer yet.
type request struct {
	id              []byte
	method          string
	session, folder string // as far as the request names them
	turn            *turn
	refused         bool // the agent has ended, and the editor has an error for it
}

type asked struct {
	session  string
	question Question
}

// Run passes messages until a side ends or ctx does. When the editor ends, the input of the agent ends, and the agent has a
// few seconds to end its output. The error is nil after that, and ErrAgentEnded with the cause if the agent ended first.
func Run(ctx context.Context, o Options) error {
	p := &proxy{
		Options: o, editor: &outlet{w: o.Editor.Out}, agent: &outlet{w: o.Agent.Out},
		prefix: "waybill-" + strings.ToLower(rand.Text()[:12]) + "-", reports: newReports(o.Logger),
	}
	p.state = state{
		requests: map[string]*request{}, asked: map[string]asked{}, turns: map[string]*turn{}, sent: map[string]*turn{},
		open: map[string]bool{}, loading: map[string]bool{},
	}
	stopped := ctx.Done()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the last reports come after the end of ctx
	editorGone, agentGone := newSignal(), newSignal()
	defer func() {
		cancel()
		wire.Interrupt(o.Editor.In)
		wire.Interrupt(o.Agent.In)
		_, _ = o.Agent.Out.Close(), o.Editor.Out.Close() // a write might never end
		p.work.Wait()
	}()
	p.work.Go(func() { p.reports.run(ctx) })
	p.work.Go(func() { p.pass(ctx, o.Editor.In, p.agent, p.editorLine, editorGone, agentGone) })
	p.work.Go(func() { p.pass(ctx, o.Agent.In, p.editor, p.agentLine, agentGone, editorGone) })
	select {
	case <-stopped:
	case <-editorGone.done:
	case <-agentGone.done:
		return p.lost(ctx)
	}
	p.leave()
	_ = o.Agent.Out.Close()
	wire.Within(exitTime, agentGone.done)
	p.settle(ctx)
	return nil
}

// Refuse answers the first request of an editor with an error, for an agent that cannot be started. It returns when that is
// written, or when the editor or ctx ends.
func Refuse(ctx context.Context, editor Pipe, why string) error {
	defer context.AfterFunc(ctx, func() { wire.Interrupt(editor.In) })()
	lines := wire.NewLineReader(editor.In, 0)
	var scanner wire.Scanner
	for {
		line, _, err := lines.Next()
		if err != nil {
			return nil
		}
		if msg, ok := scanner.ReadLine(line); ok && msg.ID != nil && !msg.Response {
			_, err := editor.Out.Write(refusal(msg.ID, why))
			return err
		}
	}
}

// A signal is something that happens once.
type signal struct {
	done chan struct{}
	once sync.Once
}

func newSignal() *signal { return &signal{done: make(chan struct{})} }

func (s *signal) set() { s.once.Do(func() { close(s.done) }) }

// leave ends the decisions that have become useless.
func (p *proxy) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.gone = true
	for _, t := range p.state.turns {
		t.cancel()
	}
}

// lost answers what the agent has left open.
func (p *proxy) lost(ctx context.Context) error {
	cause := p.Ended()
	p.mu.Lock()
	var sessions []string
	for session := range p.state.open {
		sessions = append(sessions, session)
	}
	var open []*request
	for _, r := range p.state.requests {
		r.refused = true
		open = append(open, r)
	}
	var unread []Text
	for _, t := range p.state.turns {
		t.cancel()
		if !t.taken {
			unread = append(unread, t.text)
		}
		t.text = Text{}
	}
	p.mu.Unlock()
	for _, r := range open {
		_ = p.editor.write(refusal(r.id, "the agent ended: "+cause)) // an editor that has gone needs no answer
	}
	for _, text := range unread {
		text.undo()
	}
	p.settle(ctx) // an acknowledgement may be among the reports
	ctx, cancel := context.WithTimeout(ctx, policyTime)
	defer cancel()
	p.Policy.Lost(ctx, sessions, cause)
	return fmt.Errorf("%w: %s", ErrAgentEnded, cause)
}

// pass passes the lines of one side to the other until a side has gone. examine returns what passes instead of a line.
func (p *proxy) pass(ctx context.Context, in io.Reader, to *outlet, examine func(context.Context, *wire.Scanner, []byte) []byte, ended, refused *signal) {
	lines := wire.NewLineReader(in, p.MaxMessageBytes)
	var scanner wire.Scanner
	inside := false // of a line that is too long
	for {
		line, whole, err := lines.Next()
		if whole && !inside && !p.foreign.Load() {
			line = examine(ctx, &scanner, line)
		}
		if to.part(line, whole || err != nil) != nil {
			refused.set()
			return
		}
		if inside = !whole; err != nil {
			ended.set()
			return
		}
	}
}

// An outlet is the output to one side. Each line is written as a whole.
type outlet struct {
	mu   sync.Mutex // held while a line is written
	w    io.Writer
	cut  bool // the last line has no end; mu guards it
	open bool // a part of a line is written; only the goroutine that passes lines uses it
}

// write writes a line. A line that was cut off ends first, so that the reader can tell them apart.
func (o *outlet) write(line []byte) error { return o.writeNext(func() []byte { return line }) }

// writeNext writes the line that next returns, or nothing for nil. No other line gets in between.
func (o *outlet) writeNext(next func() []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	line := next()
	if line == nil {
		return nil
	}
	if o.cut {
		line = concat([]byte("\n"), line)
	}
	o.cut = false
	_, err := o.w.Write(line)
	return err
}

// part writes a part of a line. Until the last part, no other line is written. The last part may be empty, because the input
// may end behind the part before.
func (o *outlet) part(text []byte, last bool) (err error) {
	if !o.open {
		if len(text) == 0 {
			return nil
		}
		o.mu.Lock()
	}
	if len(text) > 0 {
		_, err = o.w.Write(text)
		o.cut = text[len(text)-1] != '\n'
	}
	if o.open = !last && err == nil; !o.open {
		o.mu.Unlock()
	}
	return err
}

// settle takes the questions back that the editor can no longer answer, and waits a while for the reports.
func (p *proxy) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	p.mu.Lock()
	open := slices.Collect(maps.Values(p.state.asked))
	clear(p.state.asked)
	p.mu.Unlock()
	for _, a := range open {
		p.answered(ctx, a)
	}
	p.reports.flush(ctx)
}
