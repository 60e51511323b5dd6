package web

import (
	"context"
	"net/http"
	"time"
)

// lookTime is how long a look at the store may take, and how long what was seen holds. It bounds what those can
// make the store do who have no token.
const lookTime = time.Second

// A condition is how the store was seen last.
type condition struct {
	looking chan struct{} // of size one, never closed: whoever has put something in may use what follows
	until   time.Time     // it holds
	ready   bool
}

func (s *server) healthz(v *visit) {
	v.write(http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

// readyz tells no more than yes or no, because it tells everybody; /api/status says what is wrong.
func (s *server) readyz(v *visit) {
	ready := s.look(v.r.Context())
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	v.write(status, struct {
		Ready bool `json:"ready"`
	}{ready})
}

// look reports whether the store can be read. Of all who ask at a time, the first one looks, and the others wait for
// what it sees, unless they leave before.
func (s *server) look(asker context.Context) bool {
	c := &s.store
	select {
	case c.looking <- struct{}{}:
	case <-asker.Done():
		return false // which nobody hears
	}
	defer func() { <-c.looking }()
	if time.Now().Before(c.until) {
		return c.ready
	}
	// That who asked first leaves says nothing of the store, so the look goes on for the others.
	ctx, cancel := context.WithTimeout(s.work, lookTime)
	defer cancel()
	_, fault := s.ask(ctx, "list_awaiting", []byte(`{"limit":1}`))
	c.ready, c.until = fault == nil, time.Now().Add(lookTime)
	return c.ready
}
