package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"waybill/acp/message"
	"waybill/wire"
)

// The methods that are read.
const (
	initialize    = "initialize"
	newSession    = "session/new"
	loadSession   = "session/load"
	resumeSession = "session/resume"
	closeSession  = "session/close"
	prompt        = "session/prompt"
	cancelTurn    = "session/cancel"
	cancelRequest = "$/cancel_request"
	update        = "session/update"
	permission    = "session/request_permission"
	elicitation   = "elicitation/create"
)

// editorLine returns what the agent gets instead of a line of the editor.
func (p *proxy) editorLine(ctx context.Context, s *wire.Scanner, line []byte) []byte {
	msg, ok := s.ReadLine(line)
	if !ok {
		return line
	}
	switch method := text(msg.Method); {
	case msg.Response:
		p.editorAnswered(ctx, msg)
	case msg.ID != nil:
		return p.editorRequest(ctx, line, msg, method)
	case method == cancelTurn:
		var c message.CancelNotification
		if json.Unmarshal(msg.Params, &c) == nil {
			p.cancel(c.SessionID)
		}
	case method == cancelRequest:
		return p.cancelOf(line, msg)
	}
	return line
}

// editorRequest remembers a request until its answer, and returns what the agent gets instead.
func (p *proxy) editorRequest(ctx context.Context, line []byte, msg wire.Message, method string) []byte {
	r := &request{id: bytes.Clone(msg.ID), method: method}
	var about message.ResumeSessionRequest // it has the members that all of them share
	switch method {
	case newSession, loadSession, resumeSession, closeSession, prompt:
		if json.Unmarshal(msg.Params, &about) != nil {
			break // the agent refuses it
		}
		r.session, r.folder = about.SessionID, about.Cwd
	}
	switch method {
	case newSession, loadSession, resumeSession:
		line = p.withServer(line, msg.Params, r.folder)
	case prompt:
		r.turn = &turn{session: r.session, id: r.id, agentID: wire.Key(r.id)}
	}
	p.mu.Lock()
	p.state.requests[wire.Key(r.id)] = r
	if method == loadSession {
		p.state.loading[r.session] = true
	}
	var before *turn
	if r.turn != nil {
		before = p.state.turns[r.session]
		p.state.turns[r.session] = r.turn
	}
	p.mu.Unlock()
	if before != nil {
		p.supersede(before)
	}
	if method == prompt {
		return p.prompted(ctx, r.turn, line, msg.Params)
	}
	return line
}

// withServer adds the server of waybill to those of a session, unless there is one of that name.
func (p *proxy) withServer(line, params []byte, folder string) []byte {
	server, ok := p.Policy.Server(folder)
	if !ok || !isObject(params) {
		return line
	}
	encoded := encode(server)
	switch list := member(params, "mcpServers"); {
	case list == nil:
		return replaced(line, params, withMember(params, "mcpServers", concat([]byte("["), encoded, []byte("]"))))
	case isArray(list):
		var others []struct{ Name string }
		if json.Unmarshal(list, &others) != nil {
			return line
		}
		for _, other := range others {
			if other.Name == server.Name {
				return line
			}
		}
		return replaced(line, list, withLast(list, encoded))
	case string(list) == "null":
		return replaced(line, list, concat([]byte("["), encoded, []byte("]")))
	}
	return line
}

// prompted puts what is due in front of a prompt. A command of the agent, such as /compact, stays the first text.
func (p *proxy) prompted(ctx context.Context, t *turn, line, params []byte) []byte {
	blocks := member(params, "prompt")
	if !isArray(blocks) || isCommand(blocks) {
		return line
	}
	ctx, cancel := context.WithTimeout(ctx, policyTime)
	defer cancel()
	p.reports.flush(ctx)
	due, err := p.Policy.Prompt(ctx, t.session)
	if err != nil {
		due.undo()
		p.Logger.Warn("nothing was put in front of a prompt", "cause", err)
		return line
	}
	if due.Person != "" {
		p.say(t.session, due.Person)
	}
	if due.Agent == "" {
		return line
	}
	p.mu.Lock()
	t.text = due
	p.mu.Unlock()
	return replaced(line, blocks, withFirst(blocks, textBlock(due.Agent)))
}

// isCommand reports whether the first block of a prompt is a text that begins with a slash.
func isCommand(blocks []byte) bool {
	var all []struct{ Type, Text string }
	return json.Unmarshal(blocks, &all) == nil && len(all) > 0 && all[0].Type == "text" && strings.HasPrefix(strings.TrimSpace(all[0].Text), "/")
}

// editorAnswered records that the editor has answered a question of the agent.
func (p *proxy) editorAnswered(ctx context.Context, msg wire.Message) {
	if msg.ID == nil {
		return
	}
	p.mu.Lock()
	a, ok := p.state.asked[wire.Key(msg.ID)]
	delete(p.state.asked, wire.Key(msg.ID))
	p.mu.Unlock()
	if ok {
		p.answered(ctx, a)
	}
}

// answered reports that a question waits no longer.
func (p *proxy) answered(ctx context.Context, a asked) {
	p.reports.add(ctx, "an answer", func(ctx context.Context) error { return p.Policy.Answered(ctx, a.session, a.question) })
}

// cancel records that the person has cancelled the turn of a session.
func (p *proxy) cancel(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.state.turns[session]; t != nil {
		t.cancelled = true
		t.cancel()
	}
}

// cancelOf cancels a turn whose request the editor cancels. The agent knows a held turn by another request.
func (p *proxy) cancelOf(line []byte, msg wire.Message) []byte {
	id := member(msg.Params, "requestId")
	if len(id) == 0 {
		return line
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.state.requests[wire.Key(id)]
	if r == nil || r.turn == nil {
		return line
	}
	r.turn.cancelled = true
	r.turn.cancel()
	if r.turn.held > 0 && r.turn.agentID != "" {
		return replaced(line, id, []byte(`"`+strings.TrimPrefix(r.turn.agentID, `"`)+`"`))
	}
	return line
}
