package web

import (
	"context"
	"net/http"
	"time"
)

const (
	// checkTime limits a check of the store, and is how long its result is valid. So clients without a token can cause
	// at most one check at a time.
	checkTime = time.Second
	// metricsTimeout limits the reading of the store for metrics.
	metricsTimeout = 5 * time.Second
)

// readiness is the result of the last check of the store.
type readiness struct {
	ctx   context.Context // of the checks
	calls caller

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
	ready := s.readiness.check(req.r.Context())
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	req.write(status, struct {
		Ready bool `json:"ready"`
	}{ready})
}

// exposeMetrics answers with the metrics. If the store cannot be read, the metrics of the store are missing.
func (s *server) exposeMetrics(req *request) {
	ctx, cancel := context.WithTimeout(req.r.Context(), metricsTimeout)
	defer cancel()
	req.clearReadDeadline()
	text := s.metrics.text(ctx)
	req.w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = http.NewResponseController(req.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	_, _ = req.w.Write(text) // the client may be gone
}

// check reports whether the store can be read. Concurrent callers share one check.
func (c *readiness) check(asker context.Context) bool {
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
	ctx, cancel := context.WithTimeout(c.ctx, checkTime)
	defer cancel()
	_, fault := c.calls.result(ctx, "list_awaiting", []byte(`{"limit":1}`))
	c.ready, c.validUntil = fault == nil, time.Now().Add(checkTime)
	return c.ready
}
