package api_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
)

// posts returns the kinds of the notices in each notice/posted notification.
func posts(notes []note) [][]string {
	list := [][]string{}
	for _, n := range notes {
		if n.method != "notice/posted" {
			continue
		}
		kinds := n.each("notices", "kind")
		require.Equal(n.t, kinds[len(kinds)-1], n.str("notice.kind"))
		ids := n.each("notices", "notice_id")
		require.Equal(n.t, ids[len(ids)-1], n.str("notice.notice_id"))
		list = append(list, kinds)
	}
	return list
}

// fails ends the attempt of a new task with an error that is retried.
func (h *host) fails(session string) string {
	h.t.Helper()
	id := h.create(`"parent_session_id": %q, "max_attempts": 9`, session)
	h.finish(h.claim("w"), overloaded)
	return id
}

func TestNoticesOfASessionShareANotification(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen() // recorded takes up to 5 ms
		h.fails("p")
		time.Sleep(60 * time.Millisecond)
		h.fails("q")
		h.fails("p")
		require.Empty(t, posts(listener.recorded()))
		time.Sleep(25 * time.Millisecond)
		require.Empty(t, posts(listener.recorded()))
		time.Sleep(10 * time.Millisecond) // 100 ms after the first of p
		notes := listener.recorded()
		require.Equal(t, [][]string{{"task.retry_scheduled", "task.retry_scheduled"}}, posts(notes))
		notes[0].has("p", "notice.session_id")
		time.Sleep(60 * time.Millisecond) // 100 ms after the first of q
		notes = listener.recorded()
		require.Equal(t, [][]string{{"task.retry_scheduled"}}, posts(notes))
		notes[0].has("q", "notice.session_id")
		h.fails("p") // a later notice begins another pause
		time.Sleep(90 * time.Millisecond)
		require.Empty(t, posts(listener.recorded()))
		time.Sleep(15 * time.Millisecond)
		require.Len(t, posts(listener.recorded()), 1)
	})
}

func TestEndOfAllTasksIsAnnouncedWithHeldNotices(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		h.fails("q")
		h.create(`"parent_session_id": "p"`)
		h.create(`"parent_session_id": "p"`)
		first, second := h.claim("w"), h.claim("w")
		h.finish(first, completed)
		h.finish(second, completed)
		require.Equal(t, [][]string{{"task.finished", "task.finished", "tasks.all_finished"}}, posts(listener.recorded()))
		time.Sleep(time.Second)
		require.Equal(t, [][]string{{"task.retry_scheduled"}}, posts(listener.recorded())) // of the other session
	})
}

// A failed instruction and a notice without a session do not wait.
func TestUrgentNoticesAreAnnouncedAtOnce(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		h.fails("p")
		h.create(``)
		h.finish(h.claim("w"), completed)
		require.Equal(t, [][]string{{"task.finished"}}, posts(listener.recorded()))
		h.track(`{"content": "x", "session_id": "p", "max_retries": 0}`)
		h.call("dispatch_instructions", `{"session_id": "p"}`)
		h.call("dispatch_instructions", `{"session_id": "p"}`)
		require.Equal(t, [][]string{{"task.retry_scheduled", "instruction.failed"}}, posts(listener.recorded()))
	})
}

func TestConsumedNoticeIsNotAnnounced(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		h.fails("p")
		h.fails("p")
		h.call("consume_notices", `{"notice_ids": [%q]}`, h.call("list_notices", `{}`).str("items.0.notice_id"))
		time.Sleep(time.Second / 2) // and no longer, or else a retry of p would be ready, and be claimed for r
		notes := listener.recorded()
		require.Equal(t, [][]string{{"task.retry_scheduled"}}, posts(notes))
		h.fails("r")
		h.call("consume_notices", `{"notice_ids": [%q]}`, h.call("list_notices", `{"session_id": "r"}`).str("items.0.notice_id"))
		time.Sleep(time.Second)
		require.Empty(t, posts(listener.recorded()))
	})
}

func TestTaskNoticeIsAnnouncedUntilItIsConsumed(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		h.create(`"parent_session_id": "p"`)
		h.create(`"parent_session_id": "p"`)
		h.finish(h.claim("w"), `"status": "awaiting_response", "question": "?"`)
		h.finish(h.claim("w"), `"status": "awaiting_response", "question": "!"`)
		time.Sleep(time.Second)
		require.Len(t, posts(listener.recorded()), 1)
		var again []note
		for n := 2; n <= 3; n++ {
			time.Sleep(5 * time.Minute)
			again = listener.recorded()
			require.Equal(t, [][]string{{"task.awaiting_response", "task.awaiting_response"}}, posts(again))
			again[0].has(n, "notices.0.deliveries", n, "notices.1.deliveries")
		}
		for _, id := range again[0].each("notices", "notice_id") {
			h.call("consume_notices", `{"notice_ids": [%q]}`, id)
		}
		time.Sleep(time.Hour)
		require.Empty(t, listener.recorded())
	})
}

// Open notices are announced again while one is held for the first time.
func TestHeldNoticeIsNotAnnouncedTwice(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		h.create(`"parent_session_id": "p"`)
		c := h.claim("w") // opens the store, and the rounds begin
		listener.recorded()
		for range 5 {
			time.Sleep(55 * time.Second)
			h.beat(c, ``)
		}
		time.Sleep(25*time.Second - 50*time.Millisecond)
		h.finish(c, `"status": "awaiting_response", "question": "?"`)
		time.Sleep(time.Second)
		require.Equal(t, [][]string{{"task.awaiting_response"}}, posts(listener.recorded()))
	})
}

func TestVeryManyNoticesComeInSeveralNotifications(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		for range 250 {
			h.create(`"parent_session_id": "p", "max_attempts": 2`)
		}
		for range 250 {
			h.finish(h.claim("w"), overloaded)
		}
		time.Sleep(time.Second)
		seen := map[string]bool{}
		for _, n := range listener.recorded() {
			if n.method == "notice/posted" {
				ids := n.each("notices", "notice_id")
				require.LessOrEqual(t, len(ids), 100)
				for _, id := range ids {
					require.False(t, seen[id], "announced twice")
					seen[id] = true
				}
			}
		}
		require.Len(t, seen, 250)
	})
}

func TestHeldNoticesAreAnnouncedWhileTheStoreCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newSharedStore(t)
		h := newHost(t, setup{store: st})
		listener := h.listen()
		h.fails("p")
		listener.recorded()
		st.failViews(&store.Error{Kind: store.IO, Message: "a bad moment"})
		time.Sleep(time.Second)
		require.Equal(t, [][]string{{"task.retry_scheduled"}}, posts(listener.recorded()))
		st.failViews(nil)
	})
}

func TestAllFinishedIsPostedWhenTheLastTaskEnds(t *testing.T) {
	h := newHost(t, setup{})
	all := func() object {
		list := h.call("list_notices", `{"limit": 500}`)
		var posted []any
		for i, kind := range list.each("items", "kind") {
			if kind == "tasks.all_finished" {
				posted = append(posted, list.at(fmt.Sprintf("items.%d", i)))
			}
		}
		return object{t, list.text, map[string]any{"posted": posted}}
	}
	cancelled := h.create(`"parent_session_id": "p"`)
	waiting := h.create(`"parent_session_id": "p"`)
	failing := h.create(`"parent_session_id": "p", "max_attempts": 1`)
	h.call("cancel_task", `{"task_id": %q}`, cancelled)
	h.finish(h.claim("w"), `"status": "awaiting_response", "question": "?"`)
	h.finish(h.claim("w"), overloaded).has("ERROR", "task.status")
	require.Empty(t, all().at("posted"), "one waits for a person")
	h.call("reply", `{"task_id": %q, "reply": "x"}`, waiting)
	h.finish(h.claim("w"), completed)
	h.call("cancel_task", `{"task_id": %q}`, cancelled) // is over already
	posted := all()
	require.Len(t, posted.at("posted"), 1)
	require.Contains(t, posted.str("posted.0.text"), "all 3 tasks of session p are over: 1 complete, 2 not\n")
	require.Contains(t, posted.str("posted.0.text"), "\n- task "+failing+` "do it": ERROR`)
	posted.has(map[string]any{"CANCELLED": 1.0, "COMPLETE": 1.0, "ERROR": 1.0}, "posted.0.data.counts")
	h.call("retry_task", `{"task_id": %q}`, failing)
	require.Len(t, all().at("posted"), 1)
	h.finish(h.claim("w"), completed)
	require.Len(t, all().at("posted"), 2)
}
