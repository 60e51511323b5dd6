package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"waybill/acp/message"
	"waybill/wire"
)

// agentLine returns what the editor gets instead of a line of the agent.
func (p *proxy) agentLine(ctx context.Context, s *wire.Scanner, line []byte) []byte {
	msg, ok := s.ReadLine(line)
	if !ok {
		return line
	}
	switch method := text(msg.Method); {
	case msg.Response:
		return p.agentAnswered(ctx, line, msg)
	case msg.ID != nil && (method == permission || method == elicitation):
		p.agentAsked(ctx, msg, method)
	case msg.ID == nil && method == update:
		p.updated(ctx, msg.Params)
	}
	return line
}

// agentAnswered takes the answer to a request.
func (p *proxy) agentAnswered(ctx context.Context, line []byte, msg wire.Message) []byte {
	if msg.ID == nil {
		return line
	}
	key := wire.Key(msg.ID)
	p.mu.Lock()
	t, own := p.state.sent[key]
	delete(p.state.sent, key)
	r := p.state.requests[key]
	if r != nil && r.refused {
		p.mu.Unlock()
		return nil
	}
	if r != nil && r.turn != nil && r.turn.agentID != key {
		r, own = nil, true // an agent that answers twice, while the end of the turn is held
	}
	if r != nil && r.turn == nil {
		delete(p.state.requests, key)
	}
	p.mu.Unlock()
	switch {
	case own || strings.HasPrefix(strings.TrimPrefix(key, `"`), p.prefix):
		if t == nil {
			p.Logger.Warn("the agent answered a request twice", "id", key)
			return nil
		}
		return p.turnEnded(ctx, t, line, msg)
	case r == nil:
	case r.turn != nil:
		return p.turnEnded(ctx, r.turn, line, msg)
	default:
		p.sessionAnswered(ctx, r, msg)
	}
	return line
}

// sessionAnswered takes the answer to a request that is no prompt.
func (p *proxy) sessionAnswered(ctx context.Context, r *request, msg wire.Message) {
	if r.method == initialize {
		var answer message.InitializeResponse
		if msg.Error == nil && json.Unmarshal(msg.Result, &answer) == nil && answer.ProtocolVersion > version {
			p.Logger.Warn("waybill only passes messages on, because it does not know this version of the protocol", "version", answer.ProtocolVersion)
			p.foreign.Store(true)
		}
		return
	}
	var created message.NewSessionResponse
	if r.method == newSession && json.Unmarshal(msg.Result, &created) == nil {
		r.session = created.SessionID
	}
	p.mu.Lock()
	delete(p.state.loading, r.session)
	opened := msg.Error == nil && r.session != "" && (r.method == newSession || r.method == loadSession || r.method == resumeSession)
	switch {
	case opened:
		p.state.open[r.session] = true
	case r.method == closeSession && msg.Error == nil:
		delete(p.state.open, r.session)
	}
	p.mu.Unlock()
	if opened {
		p.reports.add(ctx, "a session", func(context.Context) error { p.Policy.Open(r.session, r.folder); return nil })
	}
}

// maxAsked bounds the questions that are noted at a time.
const maxAsked = 1000

// agentAsked remembers a question until the editor answers it.
func (p *proxy) agentAsked(ctx context.Context, msg wire.Message, method string) {
	var about struct {
		message.ElicitationSessionScope
		Message  string
		ToolCall message.ToolCallUpdate
	}
	if json.Unmarshal(msg.Params, &about) != nil || about.SessionID == "" {
		return
	}
	q := Question{Text: about.Message, Permission: method == permission}
	if q.Permission {
		q.Text = "May it run this tool?"
		if title := about.ToolCall.Title; title != nil {
			q.Text = "May it run this tool? " + *title
		}
	}
	p.mu.Lock()
	if len(p.state.asked) >= maxAsked { // the editor gets it all the same
		p.mu.Unlock()
		return
	}
	if q.Permission { // some agents tell a call here first
		p.state.calls.update(about.SessionID, about.ToolCall, true)
	}
	p.state.ids++
	q.ID = fmt.Sprintf("%s%d", p.prefix, p.state.ids)
	p.state.asked[wire.Key(msg.ID)] = asked{about.SessionID, q}
	p.mu.Unlock()
	p.reports.add(ctx, "a question", func(ctx context.Context) error { return p.Policy.Asked(ctx, about.SessionID, q) })
}

// works are the updates that an agent sends only after it took a prompt.
var works = []string{"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}

// updated takes what the agent tells about its work.
func (p *proxy) updated(ctx context.Context, params []byte) {
	var n message.SessionNotification
	var of struct{ SessionUpdate string }
	if json.Unmarshal(params, &n) != nil || json.Unmarshal(n.Update, &of) != nil {
		return
	}
	var call message.ToolCallUpdate
	var compaction message.CompactionUpdate
	p.mu.Lock()
	replay := p.state.loading[n.SessionID]
	if t := p.state.turns[n.SessionID]; t != nil && t.agentID != "" && slices.Contains(works, of.SessionUpdate) {
		t.taken = true
	}
	var ended ToolCall
	tool := false
	switch {
	case replay:
	case of.SessionUpdate == "tool_call" || of.SessionUpdate == "tool_call_update":
		if json.Unmarshal(n.Update, &call) == nil {
			ended, tool = p.state.calls.update(n.SessionID, call, of.SessionUpdate == "tool_call")
		}
	case of.SessionUpdate == "compaction_update":
		_ = json.Unmarshal(n.Update, &compaction) // without a status, it is none
	}
	p.mu.Unlock()
	switch {
	case tool:
		p.reports.add(ctx, "a tool call", func(ctx context.Context) error { return p.Policy.Tool(ctx, n.SessionID, ended) })
	case compaction.Status == "completed":
		p.reports.add(ctx, "a compaction", func(ctx context.Context) error { return p.Policy.Compacted(ctx, n.SessionID) })
	}
}
