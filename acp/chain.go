package acp

import (
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"

	"waybill/wire"
)

// A conductor runs several proxies in a row. It starts each without an agent, sends `proxy/initialize` instead of `initialize`,
// and wraps what comes from the next one, and what goes to it, in `proxy/successor`. Chain takes the wraps off, so that Run
// sees an editor and an agent.

const (
	proxyInitialize = "proxy/initialize"
	successor       = "proxy/successor"
)

// ChainLimit is the size of the largest message in a chain, in bytes. Longer ones cannot be wrapped, and are dropped.
const ChainLimit = 64 << 20

// A chain is one connection that stands for two.
type chain struct {
	in         io.ReadCloser
	out        io.WriteCloser
	logger     *slog.Logger
	fromEditor *io.PipeWriter
	fromAgent  *io.PipeWriter // the next one in the chain

	mu   sync.Mutex      // held while a line is written to out; it guards open
	open map[string]bool // the requests of the next one in the chain that have no answer, by id
}

// A wrapped message is the params of `proxy/successor`.
type wrapped struct {
	Method json.RawMessage `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// The prefixes of the ids of requests to the conductor, by the side that the request is for. Both sides count their own.
const (
	forAgent  = "agent:"
	forEditor = "editor:"
)

// Chain returns the connections to an editor and to an agent for which one connection to a conductor stands. They last until
// that one ends. The caller runs read, which returns when the input has ended.
func Chain(conductor Pipe, logger *slog.Logger) (editor, agent Pipe, read func()) {
	c := &chain{in: conductor.In, out: conductor.Out, logger: logger, open: map[string]bool{}}
	var fromEditor, fromAgent *io.PipeReader
	fromEditor, c.fromEditor = io.Pipe()
	fromAgent, c.fromAgent = io.Pipe()
	editor = Pipe{In: fromEditor, Out: chainEnd{c, c.editorGets, func() error { wire.Interrupt(c.in); return c.out.Close() }}}
	agent = Pipe{In: fromAgent, Out: chainEnd{c, c.agentGets, c.fromAgent.Close}}
	return editor, agent, c.read
}

// A chainEnd is the output to one side. Each Write is one line.
type chainEnd struct {
	*chain
	wrap  func(line []byte, msg wire.Message) []byte
	close func() error
}

func (e chainEnd) Write(line []byte) (int, error) {
	var s wire.Scanner
	msg, ok := s.ReadLine(line)
	if !ok {
		e.logger.Warn("a line that is no message cannot pass in a chain")
		return len(line), nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.out.Write(e.wrap(line, msg))
	return len(line), err
}

func (e chainEnd) Close() error { return e.close() }

// editorGets returns the line for the editor: requests get ids that the agent's requests cannot have.
func (c *chain) editorGets(line []byte, msg wire.Message) []byte {
	switch {
	case msg.Response:
	case msg.ID != nil:
		return replaced(line, msg.ID, chainID(forEditor, msg.ID))
	case text(msg.Method) == cancelRequest:
		return cancelled(line, msg, forEditor)
	}
	return line
}

// agentGets returns the line for the next one in the chain. A cancellation is for the wrap, and so has none.
func (c *chain) agentGets(line []byte, msg wire.Message) []byte {
	switch {
	case msg.Response:
		if msg.ID != nil {
			delete(c.open, wire.Key(msg.ID))
		}
		return line
	case text(msg.Method) == cancelRequest:
		return cancelled(line, msg, forAgent)
	}
	var id []byte
	if msg.ID != nil {
		id = chainID(forAgent, msg.ID)
	}
	return requestOf(id, successor, wrapped{msg.Method, msg.Params})
}

// cancelled returns a cancellation of a request that has another id in the chain.
func cancelled(line []byte, msg wire.Message, side string) []byte {
	if id := member(msg.Params, "requestId"); len(id) > 0 {
		return replaced(line, id, chainID(side, id))
	}
	return line
}

func chainID(side string, id []byte) []byte { return encode(side + string(id)) }

// read passes the lines of the conductor on, each to the side for which it stands.
func (c *chain) read() {
	defer func() { _ = c.fromEditor.Close() }() // the end of the agent follows from that of the editor
	lines := wire.NewLineReader(c.in, ChainLimit)
	var scanner wire.Scanner
	inside := false // of a line that is too long
	for {
		line, whole, err := lines.Next()
		if whole && !inside {
			if c.readLine(&scanner, line) != nil {
				return
			}
		} else if len(line) > 0 {
			c.logger.Warn("a part of a line that is too long for a chain was dropped", "bytes", len(line))
		}
		if inside = !whole; err != nil {
			return
		}
	}
}

func (c *chain) readLine(s *wire.Scanner, line []byte) error {
	msg, ok := s.ReadLine(line)
	if !ok {
		c.logger.Warn("a line of the conductor is no message")
		return nil
	}
	to := c.fromEditor
	switch method := text(msg.Method); {
	case msg.Response && msg.ID != nil:
		id := text(msg.ID)
		if raw, ok := strings.CutPrefix(id, forAgent); ok {
			to, line = c.fromAgent, replaced(line, msg.ID, []byte(raw))
		} else if raw, ok := strings.CutPrefix(id, forEditor); ok {
			line = replaced(line, msg.ID, []byte(raw))
		}
	case method == proxyInitialize:
		line = replaced(line, msg.Method, encode(initialize))
	case method == initialize && msg.ID != nil:
		c.mu.Lock()
		defer c.mu.Unlock()
		_, err := c.out.Write(refusal(msg.ID, "waybill acp was started without an agent, so it is a proxy in a chain only: put -- and the agent behind it"))
		return err
	case method == successor:
		var inner wrapped
		if json.Unmarshal(msg.Params, &inner) != nil || len(inner.Method) == 0 {
			c.logger.Warn("a message of the next one in the chain has no method")
			return nil
		}
		var params any // without a type, absent params stay absent
		if len(inner.Params) > 0 {
			params = inner.Params
		}
		to, line = c.fromAgent, requestOf(msg.ID, text(inner.Method), params)
		if msg.ID != nil {
			c.remember(msg.ID)
		}
	case method == cancelRequest && c.isOpen(member(msg.Params, "requestId")):
		to = c.fromAgent
	}
	_, err := to.Write(line)
	return err
}

// remember records a request of the next one in the chain.
func (c *chain) remember(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[wire.Key(id)] = true
}

// isOpen reports whether a request of the next one in the chain has no answer.
func (c *chain) isOpen(id []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(id) > 0 && c.open[wire.Key(id)]
}
