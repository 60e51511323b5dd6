package web

import (
	"context"
	"maps"
	"time"

	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

// Counts are what others have counted since the process began. This package only shows them.
type Counts struct {
	Store  store.Stats
	Engine engine.Stats
	// WatcherEvents is how many notifications of files came in.
	WatcherEvents int64
	// Host is what was counted of the conversation with a host; nil without one.
	Host *Host
}

// A Host is what was counted of the conversation with a host.
type Host struct {
	BytesIn, BytesOut int64
	// Refused counts the messages that no method got, by the code of the error.
	Refused map[schema.Code]int64
	// Responses counts the answers to requests that were never sent.
	Responses int64
	// LogDropped is how many lines of the log nobody took in time.
	LogDropped int64
}

// unaskedResponse is what an answer of the host counts as that nobody asked for: it is refused without a code.
const unaskedResponse = "UNASKED_RESPONSE"

// ofCounts writes what others have counted.
func (s *server) ofCounts(ctx context.Context, x *exposition, readable bool) {
	if s.o.Counts == nil {
		return
	}
	c := s.o.Counts(ctx)
	if readable {
		x.one("waybill_store_wal_bytes", gauge, "The size of the write-ahead log, which is a part of that of the store.", float64(c.Store.WALBytes))
	}
	oneSpread(x, "waybill_store_commit_seconds", "How long commits took, with their sync to the disk.", c.Store.Commits, time.Second)
	oneSpread(x, "waybill_store_busy_wait_seconds", "How long changes waited for other processes.", c.Store.Waits, time.Second)
	ofEngine(x, c.Engine)
	x.one("waybill_watcher_events_total", counter, "Notifications of files that came in.", float64(c.WatcherEvents))
	if c.Host != nil {
		ofHost(x, c.Host)
	}
}

func ofEngine(x *exposition, c engine.Stats) {
	oneSpread(x, "waybill_instruction_ack_latency_seconds", "How long it took from the queueing of instructions to their acknowledgement.", c.AckLatency, time.Second)
	oneSpread(x, "waybill_compile_bytes", "How large the prompts were that were given.", c.PromptBytes, 1)
	by(x, "waybill_ledger_rebuilds_total", counter, "How often the facts of a run were stored anew from its plan.", "reason", c.Rebuilds)
	x.one("waybill_ledger_degraded", gauge, "Plans that cannot be read as they are, so that what they said last counts.", float64(c.Lapsed))
}

func ofHost(x *exposition, c *Host) {
	by(x, "waybill_rpc_bytes_total", counter, "Bytes of the conversation with the host.", "direction",
		map[string]int64{"in": c.BytesIn, "out": c.BytesOut})
	kinds := map[schema.Code]int64{unaskedResponse: c.Responses}
	maps.Copy(kinds, c.Refused)
	by(x, "waybill_protocol_errors_total", counter, "Messages of the host that no method got.", "kind", kinds)
	x.one("waybill_log_dropped_total", counter, "Lines of the log that nobody took in time.", float64(c.LogDropped))
}
