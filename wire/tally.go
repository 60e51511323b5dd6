package wire

import (
	"maps"
	"sync"
	"sync/atomic"

	"waybill/schema"
)

// A Tally counts the traffic of a connection and the events that no answer reports. The zero value is ready. Any
// goroutine may call its methods.
type Tally struct {
	In, Out             atomic.Int64 // bytes
	Responses           atomic.Int64 // to requests that were never sent
	FailedNotifications atomic.Int64 // notifications of the host that failed
	Dropped             atomic.Int64 // notifications to the host that it did not read in time
	Incidents           atomic.Int64

	mu    sync.Mutex            // guards codes
	codes map[schema.Code]int64 // messages refused before their method
}

// Status returns the counts for the host.
func (t *Tally) Status() *schema.ConnectionStatus {
	return &schema.ConnectionStatus{NotificationsFailed: t.FailedNotifications.Load(), NotificationsDropped: t.Dropped.Load()}
}

// Stats are the counts for metrics.
type Stats struct {
	BytesIn, BytesOut int64
	// Refused counts the messages refused before their method, notifications included, by the code of the error.
	Refused map[schema.Code]int64
	// Responses counts the responses of the host to requests that were never sent.
	Responses int64
}

// Stats returns the counts for metrics.
func (t *Tally) Stats() Stats {
	t.mu.Lock()
	codes := maps.Clone(t.codes)
	t.mu.Unlock()
	return Stats{BytesIn: t.In.Load(), BytesOut: t.Out.Load(), Refused: codes, Responses: t.Responses.Load()}
}

// Refuse counts a message that was refused before its method.
func (t *Tally) Refuse(code schema.Code) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.codes == nil {
		t.codes = map[schema.Code]int64{}
	}
	t.codes[code]++
}

// Attrs returns the counts for the log of an ended connection, as names and values.
func (t *Tally) Attrs() []any {
	refused := int64(0)
	for _, n := range t.Stats().Refused {
		refused += n
	}
	return []any{
		"refused", refused, "responses", t.Responses.Load(), "failed_notifications", t.FailedNotifications.Load(),
		"dropped_notifications", t.Dropped.Load(), "incidents", t.Incidents.Load(),
	}
}
