package acp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"waybill/acp"
	"waybill/acp/message"
	"waybill/cli/gate"
	"waybill/cli/hook/dialect"
	"waybill/cli/program"
	"waybill/hostconfig"
	"waybill/internal/safetext"
)

const (
	// lateTime is how long the checks at the end of a turn may take. It is below the time for which package acp waits.
	lateTime = 50 * time.Minute
	// closeTimeout bounds the wait for the stores at the end.
	closeTimeout = 300 * time.Millisecond
)

// A policy decides by the stores of the workspaces in which the sessions run.
type policy struct {
	app    *program.App
	host   dialect.Host
	logger *slog.Logger

	mu       sync.Mutex             // guards the fields below
	folders  map[string]string      // by session
	stores   map[string]*gate.Store // by folder
	anchored map[string]bool        // the sessions that have the resume anchor
}

func newPolicy(a *program.App, logger *slog.Logger) *policy {
	return &policy{app: a, host: dialect.ACP(), logger: logger, folders: map[string]string{}, stores: map[string]*gate.Store{}, anchored: map[string]bool{}}
}

// close closes the stores, so that all of them is written.
func (p *policy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, store := range p.stores {
		store.Close(closeTimeout)
	}
}

// store returns the store of a folder.
func (p *policy) store(folder string) *gate.Store {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stores[folder] == nil {
		app := *p.app
		p.stores[folder] = &gate.Store{App: &app, Folder: folder}
	}
	return p.stores[folder]
}

// handler returns what acts on an event of a session.
func (p *policy) handler(session string, kind dialect.Kind, event string) *gate.Handler {
	p.mu.Lock()
	folder := p.folders[session]
	p.mu.Unlock()
	return &gate.Handler{
		Store: p.store(folder), Host: p.host, Command: "waybill acp",
		In: dialect.Input{
			Event: dialect.Event{Name: event, Kind: kind, Context: true},
			Host:  p.host.Name, Session: name(session), Folder: folder, Held: -1, PromptTakesContext: true,
		},
	}
}

// name returns the session as waybill names it: as the agent does, if that can be a name.
func name(session string) string {
	if dialect.IsID(session) {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	return "acp-" + hex.EncodeToString(sum[:12])
}

// Server returns the server that serves the same workspace and store.
func (p *policy) Server(folder string) (server message.McpServerStdio, ok bool) {
	path, err := os.Executable() // it runs as long as the agent
	if err != nil {
		p.logger.Warn("the agent gets no server of waybill", "cause", err)
		return server, false
	}
	root, err := p.store(folder).Root()
	if err != nil {
		return server, false
	}
	server = message.McpServerStdio{Name: "waybill", Command: path, Args: []string{"mcp", "--hooks", "--workspace", root}, Env: []message.EnvVariable{}}
	if store := p.app.StoreFlag(); store != "" && !hostconfig.HasPassword(store) {
		if !strings.Contains(store, "://") {
			if store, err = filepath.Abs(store); err != nil {
				return server, false
			}
		}
		server.Args = append(server.Args, "--store", store)
	}
	pins, _ := hostconfig.Pins(p.app.Env) // passwords come with the environment of the agent, if at all
	for _, pin := range pins {
		if name, value, _ := strings.Cut(pin, "="); name != "WAYBILL_WORKSPACE" {
			server.Env = append(server.Env, message.EnvVariable{Name: name, Value: value})
		}
	}
	return server, true
}

// Open remembers where a session works.
func (p *policy) Open(session, folder string) {
	p.mu.Lock()
	p.folders[session] = folder
	p.mu.Unlock()
	if _, err := p.store(folder).Root(); err != nil {
		p.logger.Warn("waybill only passes messages on in this session", "folder", folder, "cause", err)
	}
}

// Prompt returns the instructions that are due. The first prompt of a session also gets the resume anchor.
func (p *policy) Prompt(ctx context.Context, session string) (acp.Text, error) {
	p.mu.Lock()
	first := !p.anchored[session]
	p.anchored[session] = true
	p.mu.Unlock()
	again := func() {
		if first {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.anchored, session)
		}
	}
	var begin acp.Text
	if first {
		var err error
		if begin, err = act(ctx, p.handler(session, dialect.SessionStart, "session/new")); err != nil {
			again()
			return begin, err
		}
	}
	due, err := act(ctx, p.handler(session, dialect.Prompt, "session/prompt"))
	return acp.Text{
		Agent: joined(begin.Agent, due.Agent), Person: due.Person,
		Undo: func() {
			due.Undo()
			if begin.Undo != nil {
				begin.Undo()
			}
			again()
		},
	}, err
}

func joined(texts ...string) string {
	return strings.Join(strings.FieldsFunc(strings.Join(texts, "\x00"), func(r rune) bool { return r == 0 }), "\n\n")
}

// act lets a handler act, and returns what it tells. Without a workspace it tells nothing.
func act(ctx context.Context, h *gate.Handler) (t acp.Text, err error) {
	var answer dialect.Answer
	err = gate.Guard(func() error {
		answer, err = h.Act(ctx)
		return err
	})
	t = acp.Text{Agent: joined(answer.Context, answer.Hold), Person: answer.Person, Undo: h.Undo}
	switch {
	case errors.Is(err, gate.ErrNoWorkspace):
		return acp.Text{Undo: func() {}}, nil
	case err != nil:
		return t, h.Report(context.WithoutCancel(ctx), err)
	}
	return t, nil
}

// Tool reports a tool call.
func (p *policy) Tool(ctx context.Context, session string, call acp.ToolCall) error {
	kind := dialect.Tool
	result := "tool_response"
	if call.Failed {
		kind, result = dialect.ToolFailed, "error"
	}
	h := p.handler(session, kind, "session/update")
	h.In.Tool = call.Name
	if dialect.IsID(call.ID) {
		h.In.Use = call.ID
	}
	h.In.Data = dialect.Reported(map[string]any{
		"tool_name": some(call.Name), "tool_kind": some(call.Kind), "tool_title": some(call.Title),
		"tool_input": decoded(call.Input), result: decoded(call.Output), "cwd": some(h.In.Folder),
	})
	h.In.Context = false // no answer goes with a tool call
	_, err := act(ctx, h)
	return err
}

// some returns a text, or nil if it is empty.
func some(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// decoded returns a JSON value as it can be reported, or nil.
func decoded(value json.RawMessage) (v any) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber() // a long number keeps its digits
	if decoder.Decode(&v) != nil {
		return nil
	}
	return v
}

// Compacted has the next prompt bring the resume anchor.
func (p *policy) Compacted(ctx context.Context, session string) error {
	_, err := act(ctx, p.handler(session, dialect.Compact, "session/update"))
	return err
}

// Stop decides whether a turn may end.
func (p *policy) Stop(ctx context.Context, session string, held int) (acp.Text, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lateTime, gate.ErrLate)
	defer cancel()
	h := p.handler(session, dialect.Stop, "session/prompt")
	h.In.Held = held
	return act(ctx, h)
}

// Asked posts a notice until the person has answered. In a workspace without a store, it creates one for a question only.
func (p *policy) Asked(ctx context.Context, session string, q acp.Question) error {
	h := p.asking(session, q)
	if q.Permission && !h.Store.Exists() {
		return nil
	}
	_, err := act(ctx, h)
	return err
}

// Answered takes the notice back.
func (p *policy) Answered(ctx context.Context, session string, q acp.Question) error {
	err := p.asking(session, q).Answered(ctx)
	if errors.Is(err, gate.ErrNoWorkspace) {
		return nil
	}
	return err
}

func (p *policy) asking(session string, q acp.Question) *gate.Handler {
	h := p.handler(session, dialect.Question, "question")
	h.In.Question, h.In.Use = safetext.OneLine(q.Text, 300), q.ID
	return h
}

// Lost ends the attempts of sessions whose agent has ended, and posts a notice for each.
func (p *policy) Lost(ctx context.Context, sessions []string, cause string) {
	for _, session := range sessions {
		if err := p.handler(session, dialect.Stop, "the end of the agent").Lost(ctx, cause); err != nil && !errors.Is(err, gate.ErrNoWorkspace) {
			p.logger.Warn("the end of the agent was not reported", "cause", err)
		}
	}
}
