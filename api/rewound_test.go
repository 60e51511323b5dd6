package api_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/schema"
	"waybill/store"
	"waybill/store/transfer"
)

// restore replaces the store and signals it. It needs fake time.
func (s *sharedStore) restore(other store.Store) {
	synctest.Wait()
	s.set(func(s *sharedStore) { s.now = other })
	s.changed <- struct{}{}
	synctest.Wait()
}

// another returns a store that another host has filled.
func another(t *testing.T, fill func(h *host)) store.Store {
	t.Helper()
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	fill(h)
	h.stop()
	return st
}

// queueTwo returns a store with two events, and an open notice with a third.
func queueTwo(t *testing.T) store.Store {
	t.Helper()
	st := another(t, func(h *host) {
		h.call("queue_instruction", `{"content":"one"}`)
		h.call("queue_instruction", `{"content":"two"}`)
	})
	require.NoError(t, st.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Append(store.Event{Type: core.NoticePosted, Subject: "ntc_1", At: 1, Data: "{}"})
		if err != nil {
			return err
		}
		return tx.PutNotice(store.Notice{ID: "ntc_1", Kind: core.NoticeInstructionFailed, Subject: "ins_1", Text: "no", Data: "{}", Position: 3})
	}))
	return st
}

// The replaced log is shorter, as long or longer. The host is told so and gets the open notices and events of the new
// log.
func TestReplacedLogIsAnnounced(t *testing.T) {
	for _, events := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(events, " events before"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newSharedStore(t)
				h := newHost(t, setup{store: st})
				listener := h.listen()
				for range events {
					h.call("queue_instruction", `{"content":"x"}`)
				}
				require.Len(t, listener.recorded(), events)
				st.restore(queueTwo(t))
				notes := listener.recorded()
				require.Len(t, notes, 2)
				require.Equal(t, "log", notes[0].method)
				notes[0].has(true, "rewound")
				cursor := notes[0].str("cursor")
				require.Equal(t, "notice/posted", notes[1].method)
				notes[1].has("ntc_1", "notice.notice_id")
				h.call("queue_instruction", `{"content":"after"}`)
				require.Equal(t, []string{"4 instruction/available"}, methods(listener.recorded()))
				page := h.call("events_since", `{"cursor":%q}`, cursor)
				require.Len(t, page.at("events"), 1)
				page.has(4, "events.0.seq")
			})
		})
	}
}

// Commits of another process are announced as usual, also after a restore of the same log.
func TestContinuedLogIsNotAnnouncedAsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newSharedStore(t)
		h := newHost(t, setup{store: st})
		listener := h.listen()
		h.call("queue_instruction", `{"content":"x"}`)
		require.Equal(t, []string{"1 instruction/available"}, methods(listener.recorded()))
		other := newHost(t, setup{store: st.now})
		other.call("queue_instruction", `{"content":"y"}`)
		st.restore(st.now)
		require.Equal(t, []string{"2 instruction/available"}, methods(listener.recorded()))
	})
}

// A waiting worker gets a task of the restored store, and its earlier tasks are unknown.
func TestClaimWaitsForWhatIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newSharedStore(t)
		h := newHost(t, setup{store: st})
		gone := h.call("create_task", `{"prompt":"of the store that is gone"}`).str("task.task_id")
		h.call("create_task", `{"prompt":"of it, too"}`)
		claim := h.call("claim_task", `{"worker":"w"}`)
		h.call("claim_task", `{"worker":"w"}`)
		waiting := h.begin(t.Context(), "claim_task", `{"worker":"w","wait_ms":25000}`)
		synctest.Wait()
		require.Empty(t, waiting)
		st.restore(another(t, func(h *host) { h.call("create_task", `{"prompt":"restored"}`) }))
		require.Len(t, waiting, 1, "it goes on waiting")
		got := h.result(<-waiting)
		require.Contains(t, got.str("claim.prompt"), "restored")

		h.refused(schema.TaskGone, "finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, gone, claim.str("claim.lease.token"))
		h.refused(schema.TaskGone, "heartbeat", `{"task_id":%q,"lease_token":%q}`, gone, claim.str("claim.lease.token"))
		h.call("finish_attempt", `{"task_id":%q,"lease_token":%q,"status":"completed"}`, got.str("claim.task.task_id"), got.str("claim.lease.token")).has(true, "applied")
		h.call("create_task", `{"prompt":"and on"}`)
	})
}

// A prompt uses the facts of the restored log, even if both logs have the same length.
func TestPromptOfAReplacedLogIsCompiledAgain(t *testing.T) {
	st := newSharedStore(t)
	h := newHost(t, setup{store: st})
	h.write("tasks.md", clockPlan, time.Hour)
	run := h.run("1")
	h.compile(run)
	lost, kept := copied(t, st.now), copied(t, st.now)
	for other, issue := range map[store.Store]string{lost: "no numerals", kept: "no hands"} {
		st.set(func(s *sharedStore) { s.now = other })
		h.walk(run, "worker pass", step("spec gaps:"+issue))
	}
	st.set(func(s *sharedStore) { s.now = lost })
	require.Contains(t, h.compile(run).str("prompt"), "no numerals")
	st.set(func(s *sharedStore) { s.now = kept })
	prompt := h.compile(run).str("prompt")
	require.Contains(t, prompt, "no hands")
	require.NotContains(t, prompt, "no numerals")
}

// copied returns a copy of the store.
func copied(t *testing.T, from store.Store) store.Store {
	t.Helper()
	var file bytes.Buffer
	_, err := transfer.Export(t.Context(), from, &file, "w")
	require.NoError(t, err)
	to := newSharedStore(t)
	_, err = transfer.Import(t.Context(), to, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	return to
}
