package api_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

// requireCursor checks that a cursor points behind the event with that number and has a hash.
func requireCursor(t *testing.T, seq int, cursor string) {
	t.Helper()
	require.Regexp(t, fmt.Sprintf(`^%d\.[0-9a-f]{8}$`, seq), cursor)
}

func TestEventsContinueAtTheCursor(t *testing.T) {
	h, run := hostWithClock(t, setup{})
	for i := range 6 {
		h.track(`{"content":"%d"}`, i)
	}
	h.walk(run, "worker gaps", "worker pass", "worker pass")
	read := func(params string, limit int) (seqs []float64, types []string) {
		cursor := "0"
		for more := true; more; {
			page := h.call("events_since", `{"cursor":%q,"limit":%d%s}`, cursor, limit, params)
			kinds := page.each("events", "type")
			require.LessOrEqual(t, len(kinds), limit)
			types = append(types, kinds...)
			for i := range kinds {
				seqs = append(seqs, page.at(fmt.Sprintf("events.%d.seq", i)).(float64))
			}
			cursor, more = page.str("cursor"), page.at("more").(bool)
		}
		last := h.call("events_since", `{"cursor":%q%s}`, cursor, params)
		last.has([]any{}, "events", cursor, "cursor")
		return seqs, types
	}
	all, _ := read("", 3)
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, all)
	_, ofRun := read(`,"subject_id":`+quoted(run), 1)
	require.Equal(t, []string{"run.started", "run.outcome", "run.outcome", "run.outcome"}, ofRun)
	h.call("events_since", `{"cursor": "0", "subject_id": "run_nobody"}`).has([]any{}, "events")
}

func TestCursorOfInitializeIsFromThereOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		h.call("queue_instruction", `{"content":"before"}`)
		time.Sleep(time.Second)
		cursor := h.call("initialize", `{}`).str("cursor")
		h.call("events_since", `{"cursor":%q}`, cursor).has([]any{}, "events")
		after := h.call("queue_instruction", `{"content":"after"}`)
		page := h.call("events_since", `{"cursor":%q}`, cursor)
		page.has(after.at("seq"), "events.0.seq")
		requireCursor(t, 2, page.str("cursor"))
		page.lacks("events.1")
	})
}

func TestCursorThatTheLogDoesNotHaveIsRefused(t *testing.T) {
	h := newHost(t, setup{})
	for range 3 {
		h.call("queue_instruction", `{"content":"x"}`)
	}
	h.refused(schema.CursorGone, "events_since", `{"cursor":"4"}`).has("0", "data.details.oldest")
	require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Prune(core.Instant(time.Now().Add(time.Hour).UnixMicro()), 2)
		return err
	}))
	fault := h.refused(schema.CursorGone, "events_since", `{"cursor":"1"}`)
	requireCursor(t, 2, fault.str("data.details.oldest"))
	requireCursor(t, 3, fault.str("data.details.newest"))
	for _, cursor := range []string{"0", "2", fault.str("data.details.oldest")} {
		h.call("events_since", `{"cursor":%q}`, cursor).has(3, "events.0.seq")
	}
}

// A cursor of a replaced log is refused, even if the new log has an event with its number.
func TestCursorOfAReplacedLogIsRefused(t *testing.T) {
	first, second := newHost(t, setup{}), newHost(t, setup{})
	for range 3 {
		first.call("queue_instruction", `{"content":"x"}`)
		second.call("queue_instruction", `{"content":"x"}`)
	}
	cursor := first.call("events_since", `{"cursor":"0"}`).str("cursor")
	fault := second.refused(schema.CursorGone, "events_since", `{"cursor":%q}`, cursor)
	require.NotEqual(t, cursor, fault.str("data.details.newest"))
	second.call("events_since", `{"cursor":%q}`, fault.str("data.details.newest")).has([]any{}, "events")
	first.call("events_since", `{"cursor":%q}`, cursor).has([]any{}, "events")
	page := first.call("events_since", `{"cursor":"0","limit":2}`)
	requireCursor(t, 2, page.str("cursor"))
	second.refused(schema.CursorGone, "events_since", `{"cursor":%q}`, page.str("cursor"))
}

func TestPageOfEventsIsBoundedInBytes(t *testing.T) {
	h := newHost(t, setup{})
	require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) error {
		for range 5 {
			data := fmt.Sprintf(`{"x":"%0*d"}`, 200<<10, 0)
			if _, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "p", Data: data}); err != nil {
				return err
			}
		}
		return nil
	}))
	page := h.call("events_since", `{"cursor":"0"}`)
	require.Len(t, page.each("events", "type"), 2)
	page.has(true, "more")
	requireCursor(t, 2, page.str("cursor"))
	page = h.call("events_since", `{"cursor":"4"}`)
	page.has(5, "events.0.seq", false, "more")
}

// failed makes n instructions fail and returns their ids.
func failed(t *testing.T, h *host, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, h.track(`{"content":"%d","session_id":"%c","max_retries":0}`, i, "ab"[i%2]))
	}
	for range 2 {
		h.call("dispatch_instructions", `{"session_id":"a"}`)
		h.call("dispatch_instructions", `{"session_id":"b"}`)
	}
	return ids
}

func TestNoticesArePaged(t *testing.T) {
	h := newHost(t, setup{})
	failed(t, h, 5)
	ids := h.call("list_notices", `{}`).each("items", "notice_id")
	require.Equal(t, [][]string{ids[:2], ids[2:4], ids[4:]}, h.pages("list_notices", "notice_id", ""))
	require.Len(t, h.pages("list_notices", "kind", `,"session_id":"b"`)[0], 2)
	h.bad("/notice_ids", "consume_notices", `{"notice_ids":["n"%s]}`, strings.Repeat(`,"n"`, schema.MaxPage))
}

// The explanations of two items that wait for each other must not refer to each other.
func TestExplanationOfACycleSaysWhatEndsIt(t *testing.T) {
	h := newHost(t, setup{})
	h.write("tasks.md", "- [ ] 1. Draw\n- [ ] 2. Cut\n  - _Depends: 3_\n- [ ] 3. Glue\n  - _Depends: 4_\n- [ ] 4. Fold\n  - _Depends: 3_\n", time.Hour)
	explain := func(id string) object { return h.call("explain", `{"plan": "tasks.md", "item_id": %q}`, id) }
	three := explain("3")
	require.Contains(t, three.each("because", "rule"), "plan.cycle")
	require.Contains(t, three.each("because", "text"), "these items wait for each other: 3 -> 4 -> 3")
	require.Equal(t, []string{"edit_plan"}, three.each("next", "action"))
	three.has([]any{"person"}, "next.0.by")
	three.has(`edit tasks.md:4 so that item "3" does not wait for item "4", or break the cycle at another of its items`, "next.0.text")
	explain("4").has(`edit tasks.md:6 so that item "4" does not wait for item "3", or break the cycle at another of its items`, "next.0.text")
	require.NotContains(t, explain("2").each("because", "rule"), "plan.cycle", "it waits for a cycle and is in none")
	h.write("tasks.md", "- [ ] 1. Draw\n  - _Depends: 1_\n", time.Minute)
	require.Equal(t, []string{"edit_plan"}, explain("1").each("next", "action"))
}

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

// The log was shorter, as long or longer before. The host hears of the replacement, then of the open notices of the new log.
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
