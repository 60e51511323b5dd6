package pipe

import (
	"context"
	"io"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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

// asked has the requests to the host that it has not answered.
type asked struct {
	mu  sync.Mutex // guards ids
	ids map[jsonrpc.ID]bool
}

// track records a request that the host has to answer, and forgets one that is cancelled.
func (a *asked) track(m *jsonrpc.Request) {
	var p struct {
		ID any `json:"requestId"`
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case m.IsCall():
		a.ids[m.ID] = true
	case m.Method == cancellation && json.Unmarshal(m.Params, &p) == nil:
		id, _ := jsonrpc.MakeID(p.ID)
		delete(a.ids, id)
	}
}

// take reports whether a request with this id waits for an answer, and removes it. It checks the id as it was sent,
// because the SDK rounds numbers.
func (a *asked) take(id []byte, key jsonrpc.ID) bool {
	if n, ok := key.Raw().(int64); !ok || strconv.FormatInt(n, 10) != string(id) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.ids[key]
	delete(a.ids, key)
	return known
}
