package wire

import (
	"maps"
	"sync"
	"sync/atomic"

	"waybill/schema"
)

// A Tally counts what goes over a connection, and what its host is never told at the time. The zero value is
// ready. Its methods may be called by any goroutine, at any time.
type Tally struct {
	In, Out   atomic.Int64 // bytes
	Responses atomic.Int64 // to requests that were never sent
	Unheard   atomic.Int64 // notifications of the host that failed
	Dropped   atomic.Int64 // notifications to the host that it did not read in time
	Incidents atomic.Int64

	mu    sync.Mutex            // guards codes
	codes map[schema.Code]int64 // of the messages that no method got
}

// Status gives the part that concerns the host.
func (t *Tally) Status() *schema.ConnectionStatus {
	return &schema.ConnectionStatus{NotificationsFailed: t.Unheard.Load(), NotificationsDropped: t.Dropped.Load()}
}

// Stats are what was counted of a connection so far.
type Stats struct {
	BytesIn, BytesOut int64
	// Refused counts the messages of the host that no method got, notifications included, by the code of the error.
	Refused map[schema.Code]int64
	// Responses counts the answers of the host to requests that were never sent.
	Responses int64
}

// Stats gives the part that concerns who watches over the process.
func (t *Tally) Stats() Stats {
	t.mu.Lock()
	codes := maps.Clone(t.codes)
	t.mu.Unlock()
	return Stats{BytesIn: t.In.Load(), BytesOut: t.Out.Load(), Refused: codes, Responses: t.Responses.Load()}
}

// Refuse counts a message that no method gets.
func (t *Tally) Refuse(code schema.Code) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.codes == nil {
		t.codes = map[schema.Code]int64{}
	}
	t.codes[code]++
}

// Attrs gives what a log should keep of a connection that has ended, as names and values.
func (t *Tally) Attrs() []any {
	refused := int64(0)
	for _, n := range t.Stats().Refused {
		refused += n
	}
	return []any{
		"refused", refused, "responses", t.Responses.Load(), "failed_notifications", t.Unheard.Load(),
		"dropped_notifications", t.Dropped.Load(), "incidents", t.Incidents.Load(),
	}
}
