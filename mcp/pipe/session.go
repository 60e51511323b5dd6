package pipe

import (
	"context"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema/codec"
)

// A session is a connection as the SDK sees it: all messages of one era of the protocol, or one subscription. The SDK
// fixes the era with the first message, but hosts mix both. It keeps one subscription per resource and session, but
// hosts have several. So the conn sorts the messages into several sessions.
type session struct {
	conn  *conn
	once  bool                 // the session ends with the answer to its only request
	inbox chan jsonrpc.Message // never closed
	over  chan struct{}        // closed by Close
	close func()
}

func newSession(c *conn) *session {
	s := &session{conn: c, inbox: make(chan jsonrpc.Message), over: make(chan struct{})}
	s.close = sync.OnceFunc(func() { close(s.over) })
	return s
}

// Connect returns the session as its own connection.
func (s *session) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// deliver passes a message to the SDK.
func (s *session) deliver(m jsonrpc.Message) {
	select {
	case s.inbox <- m:
	case <-s.over:
	case <-s.conn.closing:
	}
}

// Read returns the next message. It returns io.EOF only after all requests are answered, because the SDK writes no
// answers after that.
func (s *session) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.inbox:
		return m, nil
	case <-s.over:
	case <-s.conn.closing:
	}
	return nil, io.EOF
}

// Write writes a message of the SDK. It never fails, because an error would end the session; the conn handles failed
// writes.
func (s *session) Write(_ context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		s.conn.sendAnswer(m)
		if s.once {
			s.close()
		}
	case *jsonrpc.Request:
		s.conn.sendRequest(m)
	}
	return nil
}

// Close ends the session.
func (s *session) Close() error {
	s.close()
	return nil
}

// SessionID returns "": the pipe identifies the only host.
func (s *session) SessionID() string { return "" }

// idsOfProcess is how many requests to the host one process can make. Each process begins behind those of its dead
// predecessors, so that a late answer to one of theirs is no answer to one of its own.
const idsOfProcess = 1 << 32

// asked has the requests to the host that it has not answered.
type asked struct {
	offset atomic.Int64 // of the ids on the wire from those of the SDK

	mu  sync.Mutex // guards ids
	ids map[int64]bool
}

// track records a request that the host has to answer, and forgets one that is cancelled. It returns the message with the
// id for the wire.
func (a *asked) track(m *jsonrpc.Request) *jsonrpc.Request {
	var p struct {
		ID     int64          `json:"requestId"`
		Others jsontext.Value `json:",unknown"`
	}
	out, offset := *m, a.offset.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	if id, ok := m.ID.Raw().(int64); ok {
		a.ids[id] = true
		out.ID, _ = jsonrpc.MakeID(float64(id + offset))
	} else if m.Method == cancellation && json.Unmarshal(m.Params, &p) == nil {
		delete(a.ids, p.ID)
		p.ID += offset
		if params, err := codec.Encode(p); err == nil {
			out.Params = params
		}
	}
	return &out
}

// take reports whether a request waits for this answer, removes it, and sets its id to that of the SDK. It checks the id as
// it was sent, because the SDK rounds numbers.
func (a *asked) take(sent []byte, answer *jsonrpc.Response) bool {
	id, ok := answer.ID.Raw().(int64)
	if !ok || strconv.FormatInt(id, 10) != string(sent) {
		return false
	}
	id -= a.offset.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.ids[id]
	delete(a.ids, id)
	answer.ID, _ = jsonrpc.MakeID(float64(id))
	return known
}
