package web

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A crowd is a listener with room for so many connections. When it is full, the connection goes that has
// waited longest for its peer to say something; a new one is turned away only if all are being answered.
type crowd struct {
	net.Listener
	room int

	mu     sync.Mutex // guards what follows, and what guests say it does
	guests map[*guest]struct{}
	clock  uint64 // counts what happened
}

// A guest is a connection as the crowd knows it.
type guest struct {
	net.Conn
	waits bool   // for its peer; guarded by the crowd
	since uint64 // by the clock; guarded by the crowd

	// heard says that a request of it came as far as to our checks, so that we write the answer. What the
	// library writes by itself, because it could not read the request, is written in our words.
	heard atomic.Bool
}

func newCrowd(l net.Listener, room int) *crowd {
	return &crowd{Listener: l, room: room, guests: map[*guest]struct{}{}}
}

// Accept gives the next connection that there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g := &guest{Conn: conn}
		gone, ok := c.admit(g)
		if gone != nil {
			_ = gone.Close() // what was asked on it, if anything, was not asked to the end
		}
		if ok {
			return g, nil
		}
		turnAway(conn)
	}
}

// admit makes room for a connection. gone is whose place it gets.
func (c *crowd) admit(g *guest) (gone *guest, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.guests) >= c.room {
		if gone = c.idlest(); gone == nil {
			return nil, false
		}
		delete(c.guests, gone)
	}
	c.clock++
	g.waits, g.since = true, c.clock
	c.guests[g] = struct{}{}
	return gone, true
}

// size gives how many connections there are.
func (c *crowd) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.guests)
}

// idlest gives the connection that has waited longest, or nil if none waits; the caller holds mu.
func (c *crowd) idlest() (oldest *guest) {
	for g := range c.guests {
		if g.waits && (oldest == nil || g.since < oldest.since) {
			oldest = g
		}
	}
	return oldest
}

// changed takes note of what a connection is at.
func (c *crowd) changed(conn net.Conn, state http.ConnState) {
	g := conn.(*guest) // Accept gives no others
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	switch state {
	case http.StateNew:
	case http.StateIdle:
		g.waits, g.since = true, c.clock
		g.heard.Store(false)
	case http.StateActive:
		g.waits = false
	case http.StateClosed, http.StateHijacked:
		delete(c.guests, g)
	}
}

// awaits says that a connection waits for its peer in the middle of a request, until the function that it gives is
// called.
func (c *crowd) awaits(g *guest) (came func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	g.waits, g.since = true, c.clock
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		g.waits = false
	}
}

// dismiss ends the connections that wait for their peers.
func (c *crowd) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for g := range c.guests {
		if g.waits {
			_ = g.Close()
		}
	}
}

// turnAway says to a connection that there is no room for it.
func turnAway(conn net.Conn) {
	_ = conn.SetWriteDeadline(time.Now().Add(leaveTime))
	_, _ = conn.Write(crowded()) // a new connection has room for it
	_ = conn.Close()
}

// Write writes an answer. One that is not ours is put into our words.
func (g *guest) Write(text []byte) (int, error) {
	if g.heard.Load() {
		return g.Conn.Write(text)
	}
	if _, err := g.Conn.Write(reworded(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// CloseWrite lets the library say that no more will be written, and wait until the peer has read it.
func (g *guest) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type guestKey struct{}

// known puts a connection into the context of its requests.
func known(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, conn)
}

// guestOf gives the connection of a request.
func guestOf(r *http.Request) *guest { return r.Context().Value(guestKey{}).(*guest) }
