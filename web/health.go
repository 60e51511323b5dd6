package web

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// lookTime is how long a look at the store may take, and how long what was seen holds. It bounds what those can
// make the store do who have no token.
const lookTime = time.Second

// A condition is how the store was seen last.
type condition struct {
	looking sync.Mutex // held by the one who looks

	mu    sync.Mutex // guards what follows
	until time.Time  // it holds
	ready bool
}

func (s *server) healthz(v *visit) {
	v.write(http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

// readyz tells no more than yes or no, because it tells everybody; /api/status says what is wrong.
func (s *server) readyz(v *visit) {
	s.look(v.r.Context())
	s.store.mu.Lock()
	ready := s.store.ready
	s.store.mu.Unlock()
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	v.write(status, struct {
		Ready bool `json:"ready"`
	}{ready})
}

// look reads a little of the store, unless somebody does or just did.
func (s *server) look(ctx context.Context) {
	c := &s.store
	if !c.looking.TryLock() {
		return
	}
	defer c.looking.Unlock()
	c.mu.Lock()
	fresh := time.Now().Before(c.until)
	c.mu.Unlock()
	if fresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, fault := s.ask(ctx, "list_awaiting", []byte(`{"limit":1}`))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready, c.until = fault == nil, time.Now().Add(lookTime)
}
