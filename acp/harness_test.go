package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/acp"
	"waybill/acp/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A policy says what a test tells it to, and notes what it was told.
type policy struct {
	server *message.McpServerStdio
	due    string
	stops  []acp.Text // one for each end of a turn; then the turn may end
	fault  error
	hangs  bool          // decisions and reports wait for block
	block  chan struct{} // made when the conversation begins
	lost   func()        // called when the agent has ended; may be nil

	mu   sync.Mutex
	told []string
}

func (p *policy) tell(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, words)
}

func (p *policy) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.told...)
}

func (p *policy) wait(ctx context.Context) error {
	if !p.hangs {
		return p.fault
	}
	select {
	case <-p.block:
		return p.fault
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *policy) Server(string) (message.McpServerStdio, bool) {
	if p.server == nil {
		return message.McpServerStdio{}, false
	}
	return *p.server, true
}

func (p *policy) Open(session, folder string) { p.tell("open " + session + " in " + folder) }

func (p *policy) Prompt(context.Context, string) (acp.Text, error) {
	return acp.Text{Agent: p.due, Undo: func() { p.tell("undo prompt") }}, p.fault
}

func (p *policy) Tool(ctx context.Context, session string, call acp.ToolCall) error {
	err := p.wait(ctx)
	if ctx.Err() != nil {
		return err
	}
	words := "tool " + session + " " + call.Title + " " + string(call.Input)
	if call.Failed {
		words += " failed"
	}
	p.tell(words)
	return err
}

func (p *policy) Compacted(_ context.Context, session string) error {
	p.tell("compacted " + session)
	return nil
}

func (p *policy) Stop(ctx context.Context, session string, held int) (acp.Text, error) {
	p.tell("stop " + session)
	err := p.wait(ctx)
	if err != nil || held >= len(p.stops) {
		return acp.Text{}, err
	}
	t := p.stops[held]
	t.Undo = func() { p.tell("undo stop") }
	return t, nil
}

func (p *policy) Asked(_ context.Context, session string, q acp.Question) error {
	p.tell("asked " + session + " " + q.Text)
	return nil
}

func (p *policy) Answered(_ context.Context, session string, q acp.Question) error {
	p.tell("answered " + session + " " + q.Text)
	return nil
}

func (p *policy) Lost(_ context.Context, sessions []string, cause string) {
	if p.lost != nil {
		p.lost()
	}
	for _, session := range sessions {
		p.tell("lost " + session + ": " + cause)
	}
}

// A side is the end of one party of a conversation.
type side struct {
	t     *testing.T
	conn  net.Conn
	lines chan string   // closed at the end
	busy  chan struct{} // full while a line is taken, or nothing is read
}

func newSide(t *testing.T) (*side, acp.Pipe) {
	own, other := net.Pipe()
	s := &side{t: t, conn: own, lines: make(chan string, 20_000), busy: make(chan struct{}, 1)}
	go func() { // ends with the connection
		defer close(s.lines)
		in := bufio.NewReaderSize(own, 1<<16)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				s.busy <- struct{}{}
				s.lines <- line
				<-s.busy
			}
			if err != nil {
				return
			}
		}
	}()
	return s, acp.Pipe{In: other, Out: other}
}

// pauses reads the next line only, until it resumes.
func (s *side) pauses() { s.busy <- struct{}{} }

func (s *side) resumes() { <-s.busy }

// says writes lines, when nothing moves any more.
func (s *side) says(lines ...string) {
	s.t.Helper()
	synctest.Wait()
	for _, line := range lines {
		_, err := io.WriteString(s.conn, line+"\n")
		require.NoError(s.t, err)
	}
}

// hears requires that exactly these lines came, in this order, when nothing moves any more.
func (s *side) hears(want ...string) {
	s.t.Helper()
	require.Equal(s.t, want, s.all())
}

// all returns the lines that came, when nothing moves any more.
func (s *side) all() (lines []string) {
	synctest.Wait()
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return lines
			}
			lines = append(lines, line[:len(line)-1])
		default:
			return lines
		}
	}
}

// A talk is a conversation with a proxy in the middle.
type talk struct {
	*testing.T
	editor, agent *side
	policy        *policy
	end           chan error
}

// converse plays a conversation on fake time.
func converse(t *testing.T, p *policy, play func(c *talk)) {
	synctest.Test(t, func(t *testing.T) {
		p.block = make(chan struct{}) // on the fake time, too
		c := &talk{T: t, policy: p, end: make(chan error, 1)}
		var editor, agent acp.Pipe
		c.editor, editor = newSide(t)
		c.agent, agent = newSide(t)
		go func() { // ends at the latest when the connections are closed
			c.end <- acp.Run(t.Context(), acp.Options{
				Editor: editor, Agent: agent, Policy: p, Ended: func() string { return "exit status 3" },
				Logger: slog.New(slog.DiscardHandler), MaxMessageBytes: 1 << 20,
			})
		}()
		play(c)
		_, _ = c.editor.conn.Close(), c.agent.conn.Close()
		err := <-c.end
		require.True(t, err == nil || errors.Is(err, acp.ErrAgentEnded), err)
	})
}

// opened begins a session s in /work, and forgets what was said for it.
func (c *talk) opened() {
	c.Helper()
	c.editor.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	c.agent.says(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	c.editor.says(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}`)
	c.agent.says(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	synctest.Wait()
	_, _ = c.editor.all(), c.agent.all()
}

const (
	asks  = `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Go."}]}}`
	ends  = `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}`
	works = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I work."}}}}`
)

// said returns the notification with which the proxy tells the person something.
func said(words string) string {
	text, _ := json.Marshal("\n\n" + words + "\n\n") // a text can be encoded
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(text) + `}}}}`
}

// idOf returns the id of a message, as it is written.
func idOf(t *testing.T, line string) string {
	var m struct{ ID json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(line), &m), line)
	return string(m.ID)
}
