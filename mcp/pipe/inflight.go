package pipe

import (
	"context"
	"sync"

	"waybill/api"
	"waybill/wire"
)

const (
	// maxInFlight limits the requests whose answers are not written.
	maxInFlight = 1024
	// maxInFlightBytes limits the params of unanswered requests. One message always fits.
	maxInFlightBytes = 64 << 20
)

// requests are the requests in flight. They bound their number and order the changes.
type requests struct {
	activity *wire.Pulse   // beats when a request is accepted or answered
	freed    chan struct{} // holds a token if room may have been freed; never closed
	drained  chan struct{} // closed when no request is left, after closed is set

	mu      sync.Mutex // guards the fields below, and some fields of each request
	open    map[string]*request
	count   int        // requests whose answers are not written
	bytes   int        // of the params of the requests in open
	changes []*request // in order, from the first one that has not passed
	closed  bool
}

func newRequests(activity *wire.Pulse) *requests {
	return &requests{
		activity: activity, freed: make(chan struct{}, 1), drained: make(chan struct{}),
		open: map[string]*request{},
	}
}

// hasRoom reports whether a request with params of this size may be accepted.
func (rs *requests) hasRoom(size int) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.count < maxInFlight && (rs.bytes == 0 || rs.bytes+size <= maxInFlightBytes)
}

// find returns the unanswered request with this id, or nil.
func (rs *requests) find(key string) *request {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.open[key]
}

// begin accepts a request and reports whether that is still possible. A change is queued after earlier ones.
func (rs *requests) begin(r *request, change bool) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return false
	}
	r.set = rs
	if change {
		r.ready = make(chan struct{})
		rs.changes = append(rs.changes, r)
		rs.advanceChanges()
	}
	rs.open[r.key] = r
	rs.count++
	rs.bytes += len(r.Params)
	rs.activity.Beat()
	return true
}

// advanceChanges lets the first change that has not passed take effect. A change that passed before its turn gets its
// turn too, because it may still take effect. The caller holds mu.
func (rs *requests) advanceChanges() {
	for len(rs.changes) > 0 {
		r := rs.changes[0]
		if !r.isReady {
			r.isReady = true
			close(r.ready)
		}
		if !r.passed {
			return
		}
		rs.changes[0] = nil
		rs.changes = rs.changes[1:]
	}
}

// answer marks a request as answered. It reports false if it was answered before.
func (rs *requests) answer(r *request) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r.answered {
		return false
	}
	rs.close(r)
	rs.activity.Beat()
	return true
}

// close removes a request from the unanswered ones. The caller holds mu.
func (rs *requests) close(r *request) {
	delete(rs.open, r.key)
	rs.bytes -= len(r.Params)
	r.answered = true
}

// takeUnanswered closes all unanswered requests and returns them.
func (rs *requests) takeUnanswered() (all []*request) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		rs.close(r)
		all = append(all, r)
	}
	return all
}

// complete releases a request whose answer was written or dropped.
func (rs *requests) complete(r *request, delivered bool) {
	r.runCallbacks(delivered)
	rs.mu.Lock()
	rs.count--
	if rs.count == 0 && rs.closed {
		close(rs.drained)
	}
	rs.mu.Unlock()
	select {
	case rs.freed <- struct{}{}:
	default:
	}
}

// refuseMore makes begin refuse further requests. It is called once.
func (rs *requests) refuseMore() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.closed = true
	if rs.count == 0 {
		close(rs.drained)
	}
}

// hurry asks all handlers to end soon: changes take effect, and waiting calls return what they have.
func (rs *requests) hurry() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		r.end(api.ErrHurry)
	}
}

// endMethod ends the handlers of a method.
func (rs *requests) endMethod(method string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		if r.Method == method {
			r.end(context.Canceled)
		}
	}
}
