package web

import (
	"context"
	"net/http"
	"time"
)

// checkTime limits a check of the store, and is how long its result is valid. So clients without a token can cause at
// most one check at a time.
const checkTime = time.Second

// A storeReadiness is the result of the last check of the store.
type storeReadiness struct {
	checking   chan struct{} // of size 1, never closed; its one element is the right to use the fields below
	validUntil time.Time     // when the result expires
	ready      bool
}

func (s *server) healthz(req *request) {
	req.write(http.StatusOK, struct {
		OK bool `json:"ok"`
	}{true})
}

// readyz reports only yes or no, because it needs no token. /api/status reports the faults.
func (s *server) readyz(req *request) {
	ready := s.storeReadable(req.r.Context())
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	req.write(status, struct {
		Ready bool `json:"ready"`
	}{ready})
}

// storeReadable reports whether the store can be read. Concurrent callers share one check.
func (s *server) storeReadable(asker context.Context) bool {
	c := &s.readiness
	select {
	case c.checking <- struct{}{}:
	case <-asker.Done():
		return false // the client is gone
	}
	defer func() { <-c.checking }()
	if time.Now().Before(c.validUntil) {
		return c.ready
	}
	// The check continues for other callers when the first client leaves.
	ctx, cancel := context.WithTimeout(s.callCtx, checkTime)
	defer cancel()
	_, fault := s.callTable(ctx, "list_awaiting", []byte(`{"limit":1}`))
	c.ready, c.validUntil = fault == nil, time.Now().Add(checkTime)
	return c.ready
}
