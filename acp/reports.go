package acp

import (
	"context"
	"log/slog"
)

// maxReports bounds the reports that wait for the Policy. Then the agent waits, too.
const maxReports = 256

// reports is a queue of calls to the Policy. The calls run in order.
type reports struct {
	logger *slog.Logger
	queue  chan func() // for one goroutine; never closed
}

func newReports(logger *slog.Logger) reports {
	return reports{logger: logger, queue: make(chan func(), maxReports)}
}

// add queues a call.
func (r reports) add(ctx context.Context, what string, call func(context.Context) error) {
	select {
	case r.queue <- func() {
		ctx, cancel := context.WithTimeout(ctx, policyTime)
		defer cancel()
		if err := call(ctx); err != nil && ctx.Err() == nil {
			r.logger.Warn(what+" was not reported", "cause", err)
		}
	}:
	case <-ctx.Done():
	}
}

// run makes the queued calls, one after the other, until ctx ends.
func (r reports) run(ctx context.Context) {
	for {
		select {
		case call := <-r.queue:
			call()
		case <-ctx.Done():
			return
		}
	}
}

// flush blocks until the calls that are queued so far have ended.
func (r reports) flush(ctx context.Context) {
	done := make(chan struct{})
	r.add(ctx, "", func(context.Context) error { close(done); return nil })
	select {
	case <-done:
	case <-ctx.Done():
	}
}
