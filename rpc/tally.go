package rpc

import (
	"maps"
	"sync"
	"sync/atomic"

	"waybill/schema"
)

// A Tally counts what goes over a connection, and what its host is never told at the time. The zero value is ready.
type Tally struct {
	in, out   atomic.Int64 // bytes
	refused   atomic.Int64 // messages that got an error without being carried out
	responses atomic.Int64 // to requests that were never sent
	unheard   atomic.Int64 // notifications of the host that failed
	dropped   atomic.Int64 // notifications to the host that it did not read in time
	incidents atomic.Int64

	mu    sync.Mutex            // guards codes
	codes map[schema.Code]int64 // of the messages that no method got
}

// Status gives the part that concerns the host. It may be called by any goroutine, at any time.
func (t *Tally) Status() *schema.ConnectionStatus {
	return &schema.ConnectionStatus{NotificationsFailed: t.unheard.Load(), NotificationsDropped: t.dropped.Load()}
}

// Stats are what was counted of a connection so far.
type Stats struct {
	BytesIn, BytesOut int64
	// Refused counts the messages of the host that no method got, notifications included, by the code of the error.
	Refused map[schema.Code]int64
	// Responses counts the answers of the host to requests that were never sent.
	Responses int64
}

// Stats gives the part that concerns who watches over the process. It may be called by any goroutine, at any time.
func (t *Tally) Stats() Stats {
	t.mu.Lock()
	codes := maps.Clone(t.codes)
	t.mu.Unlock()
	return Stats{BytesIn: t.in.Load(), BytesOut: t.out.Load(), Refused: codes, Responses: t.responses.Load()}
}

// refuse counts a message that no method gets. Only the reader calls it, so that the lock is free but for who asks.
func (t *Tally) refuse(code schema.Code) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.codes == nil {
		t.codes = map[schema.Code]int64{}
	}
	t.codes[code]++
}
