package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"waybill/acp/message"
	"waybill/internal/safetext"
	"waybill/wire"
)

// A turn is one prompt of the editor, from its request to the answer. The mutex of its proxy guards it.
type turn struct {
	session string
	id      []byte // of the editor's request, as the editor wrote it
	held    int    // how often its end was held
	// agentID is the key of the request that the agent works on; "" while its end is decided.
	agentID   string
	cancelled bool
	newer     bool // the editor has sent the next prompt
	taken     bool // the agent has shown that it has the text
	text      Text // the last one that the agent was handed
	stop      context.CancelFunc
}

// cancel ends a decision that is being made.
func (t *turn) cancel() {
	if t.stop != nil {
		t.stop()
	}
}

// An ending says what the editor gets when an agent has ended a turn.
type ending int

const (
	passes ending = iota + 1 // the answer of the agent
	decide                   // the Policy decides
)

// endingOf returns what follows the answer of an agent to a prompt. Only a turn that the agent ended by itself can be held.
func endingOf(answered message.StopReason, failed, cancelled, newer bool) ending {
	if failed || cancelled || newer || answered != message.StopReasonEndTurn {
		return passes
	}
	return decide
}

// supersede ends the decision about a turn, because the editor has sent the next prompt.
func (p *proxy) supersede(t *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.newer = true
	t.cancel()
}

// turnEnded takes the answer of the agent to a prompt, and returns what the editor gets now.
func (p *proxy) turnEnded(ctx context.Context, t *turn, line []byte, msg wire.Message) []byte {
	var answer message.PromptResponse
	failed := msg.Error != nil || json.Unmarshal(msg.Result, &answer) != nil
	p.mu.Lock()
	t.agentID = ""
	unread := Text{}
	if failed && !t.taken {
		unread = t.text
	}
	t.text = Text{}
	if endingOf(answer.StopReason, failed, t.cancelled, t.newer) == decide && !p.state.gone {
		ctx, stop := context.WithTimeout(ctx, stopTime)
		t.stop = stop
		p.mu.Unlock()
		line = bytes.Clone(line)
		p.work.Go(func() {
			defer stop()
			p.decide(ctx, t, line)
		})
		return nil
	}
	p.mu.Unlock()
	unread.undo()
	return p.finish(t, line)
}

// finish forgets a turn and returns the last answer of the agent as the answer to the editor's request. It returns nil if the
// editor has an error for it.
func (p *proxy) finish(t *turn, line []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.state.requests[wire.Key(t.id)]; r != nil && r.refused {
		return nil
	}
	delete(p.state.requests, wire.Key(t.id))
	if p.state.turns[t.session] == t {
		delete(p.state.turns, t.session)
	}
	if t.held == 0 {
		return line
	}
	var s wire.Scanner
	msg, ok := s.ReadLine(line)
	if !ok || msg.ID == nil {
		return line
	}
	return replaced(line, msg.ID, t.id)
}

// answer writes the last answer of the agent to the editor, as the answer to its request.
func (p *proxy) answer(t *turn, line []byte) {
	if line = p.finish(t, line); line != nil {
		_ = p.editor.write(line) // an editor that has gone needs no answer
	}
}

// decide asks the Policy whether the turn may end, and sends the agent on or answers the editor.
func (p *proxy) decide(ctx context.Context, t *turn, line []byte) {
	p.reports.flush(ctx)
	verdict, err := p.Policy.Stop(ctx, t.session, t.held)
	if err != nil && ctx.Err() == nil {
		p.Logger.Warn("the turn ends without a decision", "cause", err)
		verdict.undo()
		verdict = Text{Person: "waybill: the turn ends unchecked: " + safetext.OneLine(err.Error(), 300)}
	}
	p.mu.Lock()
	over := p.isOver(ctx, t)
	p.mu.Unlock()
	if !over {
		if verdict.Person != "" {
			p.say(t.session, verdict.Person)
		}
		if verdict.Agent == "" {
			p.answer(t, line)
			return
		}
		first, _, _ := strings.Cut(verdict.Agent, "\n")
		p.say(t.session, "waybill: the turn goes on: "+safetext.OneLine(first, 300))
		if p.hold(ctx, t, verdict) {
			return
		}
	}
	verdict.undo()
	p.mu.Lock()
	cancelled := t.cancelled
	p.mu.Unlock()
	if cancelled {
		line = answerTo(t.id, message.PromptResponse{StopReason: message.StopReasonCancelled})
	}
	p.answer(t, line)
}

// isOver reports whether a turn ends without asking the Policy. The caller holds p.mu.
func (p *proxy) isOver(ctx context.Context, t *turn) bool {
	return t.cancelled || t.newer || p.state.gone || ctx.Err() != nil
}

// hold sends the agent one more prompt, unless the editor has ended the turn, and reports whether it did. No line of the
// editor gets between that test and the prompt.
func (p *proxy) hold(ctx context.Context, t *turn, verdict Text) (held bool) {
	_ = p.agent.writeNext(func() []byte {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.isOver(ctx, t) {
			return nil
		}
		p.state.ids++
		id := encode(fmt.Sprintf("%s%d", p.prefix, p.state.ids))
		t.held++
		t.agentID, t.text, t.taken = wire.Key(id), verdict, false
		p.state.sent[t.agentID] = t
		held = true
		return requestOf(id, prompt, message.PromptRequest{
			SessionID: t.session, Prompt: []json.RawMessage{textBlock(verdict.Agent)},
		})
	}) // an agent that has gone is noticed by its output
	return held
}

// say shows the person a text, as a message of the agent.
func (p *proxy) say(session, words string) {
	chunk := encode(struct {
		SessionUpdate string          `json:"sessionUpdate"`
		Content       json.RawMessage `json:"content"`
	}{"agent_message_chunk", textBlock("\n\n" + words + "\n\n")})
	_ = p.editor.write(requestOf(nil, update, message.SessionNotification{SessionID: session, Update: chunk}))
}
