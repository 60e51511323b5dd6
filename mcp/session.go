package mcp

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A session is what the SDK takes for a connection of its own: the part of the conversation that is in one era of the
// protocol, or one subscription. The SDK keeps to one era from the first message on, and hosts do not; and it keeps one
// subscription for each resource and session, and hosts have several. So there is a session for each, and the door
// sorts the messages.
type session struct {
	door  *door
	once  bool                 // it is for one request, and ends with the answer
	inbox chan jsonrpc.Message // never closed
	over  chan struct{}        // closed by Close
	close func()
}

func newSession(d *door) *session {
	s := &session{door: d, inbox: make(chan jsonrpc.Message), over: make(chan struct{})}
	s.close = sync.OnceFunc(func() { close(s.over) })
	return s
}

// Connect makes the session the transport that leads to itself.
func (s *session) Connect(context.Context) (sdk.Connection, error) { return s, nil }

// deliver hands a message to the SDK.
func (s *session) deliver(m jsonrpc.Message) {
	select {
	case s.inbox <- m:
	case <-s.over:
	case <-s.door.finished:
	}
}

// Read gives the SDK the next message. The end comes when nothing is in hand any more: until then the SDK would not
// write what it still has to answer.
func (s *session) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.inbox:
		return m, nil
	case <-s.over:
	case <-s.door.finished:
	}
	return nil, io.EOF
}

// Write takes what the SDK has to say. It never fails: what cannot be written is known to the door, and an error
// would end the session.
func (s *session) Write(_ context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		s.door.answer(m)
		if s.once {
			s.close()
		}
	case *jsonrpc.Request:
		s.door.say(m)
	}
	return nil
}

// Close ends the session.
func (s *session) Close() error {
	s.close()
	return nil
}

// SessionID gives none: there is one host, and it is known by its pipe.
func (s *session) SessionID() string { return "" }
