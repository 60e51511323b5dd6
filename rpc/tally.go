package rpc

import (
	"sync/atomic"

	"waybill/schema"
)

// A Tally counts what the host of a connection is never told at the time. The zero value is ready.
type Tally struct {
	refused   atomic.Int64 // messages that got an error without being carried out
	responses atomic.Int64 // to requests that were never sent
	unheard   atomic.Int64 // notifications of the host that failed
	dropped   atomic.Int64 // notifications to the host that it did not read in time
	incidents atomic.Int64
}

// Status gives the part that concerns the host. It may be called by any goroutine, at any time.
func (t *Tally) Status() *schema.ConnectionStatus {
	return &schema.ConnectionStatus{NotificationsFailed: t.unheard.Load(), NotificationsDropped: t.dropped.Load()}
}
