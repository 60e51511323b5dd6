package api_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store"
)

func TestFullDiskLetsWorkBeFinished(t *testing.T) {
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	acked, cancelled := h.track(`{"content":"a","ack_on":{"event_type":"e"}}`), h.track(`{"content":"b"}`)
	reported := h.track(`{"content":"c","ack_on":{"event_type":"e"}}`)
	h.track(`{"content":"d","max_retries":0}`)
	for range 2 {
		h.pass()
	}
	notice := h.call("list_notices", `{}`).str("items.0.notice_id")
	h.call("get_status", `{}`).has(1, "counts.notices_open")
	st.fail(&store.Error{Kind: store.Full, Message: "no space left on the disk"})
	for _, method := range []string{"queue_instruction", "queue_instruction_with_ack"} {
		fault := h.refused(schema.StoreFull, method, `{"content":"x"}`)
		fault.has(5070, "code")
		fault.has(true, "data.retryable")
	}
	h.refused(schema.StoreFull, "dispatch_instructions", `{}`)
	h.call("acknowledge", `{"instruction_id":%q}`, acked).has("acknowledged", "instruction.state")
	h.call("cancel_instruction", `{"instruction_id":%q}`, cancelled).has(1, "cancelled")
	h.call("report_event", `{"type":"e"}`).has([]any{reported}, "acknowledged")
	h.call("consume_notices", `{"notice_ids":[%q]}`, notice).has([]any{notice}, "consumed")
	st.fail(nil)
	h.call("queue_instruction", `{"content":"x"}`)
}

func TestStoreErrorsHaveCodes(t *testing.T) {
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	h.call("get_status", `{}`)
	for kind, code := range map[store.Kind]schema.Code{
		store.Full: schema.StoreFull, store.IO: schema.StoreIO, store.ReadOnly: schema.StoreReadOnly,
		store.Corrupt: schema.StoreCorrupt, store.NewerSchema: schema.StoreNewer, store.Busy: schema.StoreBusy,
		store.Lost: schema.StoreLost, store.Unsafe: schema.StoreUnsafe, store.Cancelled: schema.Cancelled,
		store.Closed: schema.ShuttingDown,
	} {
		st.fail(&store.Error{Kind: kind, Message: "it is " + kind.String()})
		h.refused(code, "queue_instruction", `{"content":"x"}`)
	}
	st.fail(&store.Error{Kind: store.IO, Outcome: store.Unknown, Message: "who knows"})
	a := <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
	require.Equal(t, schema.OutcomeUnknown, a.Err.Data.Outcome)
	require.Contains(t, a.Err.Data.Hint, "idempotency_key")
	st.fail(fmt.Errorf("nobody knows this one"))
	a = <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
	require.Equal(t, schema.Internal, a.Err.Data.Code)
	require.EqualError(t, a.Cause, "nobody knows this one")
	require.NotContains(t, a.Err.Message, "nobody knows")
}

// A readOnly store reports itself as read-only.
type readOnly struct{ *sharedStore }

func (s readOnly) Status(ctx context.Context) store.Status {
	status := s.sharedStore.Status(ctx)
	status.ReadOnly, status.Path, status.SizeBytes, status.SchemaVersion = true, "/x/store.db", 4096, 3
	return status
}

func TestStatusOfAReadOnlyStore(t *testing.T) {
	status := newHost(t, setup{store: readOnly{newSharedStore(t)}}).call("get_status", `{}`)
	status.has("read_only", "store.mode")
	status.has("/x/store.db", "store.path")
	status.has(4096, "store.size_bytes")
	status.has(3, "store.schema_version")
}

// A crowded store reports other processes that use it.
type crowded struct{ store.Store }

func (c crowded) Status(ctx context.Context) store.Status {
	st := c.Store.Status(ctx)
	st.Peers = []store.Peer{{PID: 41, Version: "1.0.0"}, {PID: 42, Version: "1.1.0", Host: "build-7"}}
	return st
}

// A process of an older version still uses the store.
func TestAnotherVersionIsDegraded(t *testing.T) {
	h := newHost(t, setup{store: crowded{newSharedStore(t)}, version: "1.1.0"})
	require.Contains(t, h.call("get_status", `{}`).at("degraded"),
		"a waybill process of version 1.0.0 (process 41) uses this store, and this is version 1.1.0; restart the older one")
	h = newHost(t, setup{store: crowded{newSharedStore(t)}, version: "1.0.0"})
	degraded := fmt.Sprint(h.call("get_status", `{}`).at("degraded"))
	require.Contains(t, degraded, "(process 42 on build-7)")
	require.NotContains(t, degraded, "(process 41)")
}
