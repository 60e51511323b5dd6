package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// maxConnections limits the connections with a token, and maxWithoutToken separately those without. There are more of
// these, because each is kept for a moment, and the next ones wait for that.
const (
	maxConnections  = 64
	maxWithoutToken = 256
)

// A connLimiter is a listener with a limited number of connections. Connections with and without a token have separate
// limits, so that clients without a token cannot displace those with one.
type connLimiter struct {
	net.Listener

	mu    sync.Mutex // guards the fields below, and some fields of each clientConn
	open  map[*clientConn]struct{}
	clock uint64 // counts state changes
}

// A clientConn is a connection of a connLimiter.
type clientConn struct {
	net.Conn
	limiter      *connLimiter
	begun        atomic.Bool // it was read from
	acceptedAt   uint64      // value of the clock
	keptUntil    time.Time   // zero before it is read from
	authorized   bool        // has shown a token; guarded by the limiter
	waiting      bool        // for the client; guarded by the limiter
	waitingSince uint64      // value of the clock; guarded by the limiter

	// parsed is set when net/http has parsed a request, so that waybill writes the answer. Before that, Write rewrites
	// the refusals of net/http.
	parsed atomic.Bool
}

func newConnLimiter(l net.Listener) *connLimiter {
	return &connLimiter{Listener: l, open: map[*clientConn]struct{}{}}
}

// headStart is how long a connection is kept without a token after the first attempt to read from it, however many others
// come. Without it, clients that connect in a loop close the connection of another one before its request is read. It does
// not begin earlier, because a busy machine reads late.
const headStart = 50 * time.Millisecond

// Accept returns the next connection. At the limit it closes the oldest connection without a token, so that a client
// that sends its request at once is served. While none can be closed, the next one waits in the system's queue.
func (l *connLimiter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &clientConn{Conn: conn, limiter: l}
	evicted, wait := l.admit(c)
	for wait > 0 {
		<-time.After(wait)
		evicted, wait = l.admit(c)
	}
	if evicted != nil {
		_ = evicted.Close() // it has shown no token, so it needs no answer
	}
	return c, nil
}

// admit adds a connection, or returns how long that must wait. It returns the connection that must be closed for it, or
// nil.
func (l *connLimiter) admit(c *clientConn) (evicted *clientConn, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := 0
	for other := range l.open {
		if other.authorized {
			continue
		}
		count++
		if !other.keptUntil.IsZero() && (evicted == nil || other.acceptedAt < evicted.acceptedAt) {
			evicted = other
		}
	}
	switch {
	case count < maxWithoutToken:
		evicted = nil
	case evicted == nil:
		return nil, headStart
	default:
		if wait = time.Until(evicted.keptUntil); wait > 0 {
			return nil, wait
		}
	}
	delete(l.open, evicted)
	l.clock++
	c.acceptedAt, c.waiting, c.waitingSince = l.clock, true, l.clock
	l.open[c] = struct{}{}
	return evicted, 0
}

// authorize marks a connection as one with a token. At the limit it closes the connection that has waited longest for
// its client. It reports false if none waits.
func (l *connLimiter) authorize(c *clientConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.authorized {
		return true
	}
	count, idlest := 0, (*clientConn)(nil)
	for other := range l.open {
		if !other.authorized {
			continue
		}
		count++
		if other.waiting && (idlest == nil || other.waitingSince < idlest.waitingSince) {
			idlest = other
		}
	}
	if count >= maxConnections {
		if idlest == nil {
			return false
		}
		delete(l.open, idlest)
		_ = idlest.Close() // it has no complete request
	}
	c.authorized = true
	return true
}

// size returns the number of connections.
func (l *connLimiter) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// stateChanged records the state of a connection.
func (l *connLimiter) stateChanged(conn net.Conn, state http.ConnState) {
	c := conn.(*clientConn) // Accept returns no others
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	switch state {
	case http.StateNew:
	case http.StateIdle:
		c.waiting, c.waitingSince = true, l.clock
		c.parsed.Store(false)
	case http.StateActive:
		c.waiting = false
	case http.StateClosed, http.StateHijacked:
		delete(l.open, c)
	}
}

// awaitBody marks a connection as waiting for the body of a request until the returned function is called.
func (l *connLimiter) awaitBody(c *clientConn) (came func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	c.waiting, c.waitingSince = true, l.clock
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.waiting = false
	}
}

// closeWaiting closes the connections that wait for their clients.
func (l *connLimiter) closeWaiting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if c.waiting {
			_ = c.Close()
		}
	}
}

// Read reads from the client. The first call begins the head start.
func (c *clientConn) Read(text []byte) (int, error) {
	if !c.begun.Swap(true) {
		c.limiter.mu.Lock()
		c.keptUntil = time.Now().Add(headStart)
		c.limiter.mu.Unlock()
	}
	return c.Conn.Read(text)
}

// Write writes an answer. It rewrites an answer that net/http has written itself.
func (c *clientConn) Write(text []byte) (int, error) {
	if c.parsed.Load() {
		return c.Conn.Write(text)
	}
	if _, err := c.Conn.Write(rewriteRefusal(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// CloseWrite closes the writing side, so that net/http can wait until the client has read the answer.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type connKey struct{}

// withConn returns a context that carries the connection of a request.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// connOf returns the connection of a request.
func connOf(r *http.Request) *clientConn { return r.Context().Value(connKey{}).(*clientConn) }
