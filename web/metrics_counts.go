package web

import (
	"context"
	"maps"
	"time"

	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

// Counts are the counters of other packages since the process started.
type Counts struct {
	Store  store.Stats
	Engine engine.Stats
	// WatcherEvents is the number of file notifications.
	WatcherEvents int64
	// Host has the counters of the connection with a host, or nil without one.
	Host *Host
}

// A Host has the counters of the connection with a host.
type Host struct {
	BytesIn, BytesOut int64
	// Refused counts the messages refused before their method, by the code of the error.
	Refused map[schema.Code]int64
	// Responses counts responses to requests that were never sent.
	Responses int64
	// LogDropped is the number of log lines that were not read in time.
	LogDropped int64
}

// unaskedResponse is the label for a response of the host to no request, which has no error code.
const unaskedResponse = "UNASKED_RESPONSE"

// ofProcess writes the counters of other packages.
func (m *metrics) ofProcess(ctx context.Context, x *exposition, readable bool) {
	if m.counts == nil {
		return
	}
	c := m.counts(ctx)
	if readable {
		x.one("waybill_store_wal_bytes", gauge, "The size of the write-ahead log, which is part of the size of the store.", float64(c.Store.WALBytes))
	}
	oneHistogram(x, "waybill_store_commit_seconds", "How long commits took, including the sync to the disk.", c.Store.Commits, time.Second)
	oneHistogram(x, "waybill_store_busy_wait_seconds", "How long changes waited for other processes.", c.Store.Waits, time.Second)
	engineMetrics(x, c.Engine)
	x.one("waybill_watcher_events_total", counter, "Notifications of file changes.", float64(c.WatcherEvents))
	if c.Host != nil {
		hostMetrics(x, c.Host)
	}
}

func engineMetrics(x *exposition, c engine.Stats) {
	oneHistogram(x, "waybill_instruction_ack_latency_seconds", "How long it took from queueing an instruction to its acknowledgement.", c.AckLatency, time.Second)
	oneHistogram(x, "waybill_compile_bytes", "Size of the prompts.", c.PromptBytes, 1)
	perLabel(x, "waybill_ledger_rebuilds_total", counter, "How often the facts of a run were rebuilt from its plan.", "reason", c.Rebuilds)
	x.one("waybill_ledger_degraded", gauge, "Plans that cannot be read, so that their last readable content counts.", float64(c.Unreadable))
}

func hostMetrics(x *exposition, c *Host) {
	perLabel(x, "waybill_rpc_bytes_total", counter, "Bytes of the connection with the host.", "direction",
		map[string]int64{"in": c.BytesIn, "out": c.BytesOut})
	kinds := map[schema.Code]int64{unaskedResponse: c.Responses}
	maps.Copy(kinds, c.Refused)
	perLabel(x, "waybill_protocol_errors_total", counter, "Messages of the host that were refused before their method was called.", "kind", kinds)
	x.one("waybill_log_dropped_total", counter, "Log lines that were not read in time.", float64(c.LogDropped))
}
