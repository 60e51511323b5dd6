package api_test

import (
	"fmt"
	"strings"
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

func TestNoticesOfASessionThatComeTogetherAreOneNotification(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		listener := h.listen() // to hear takes up to 5 ms, for the feed may rest so long
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
		h.fails("p") // what comes later has its own time
		time.Sleep(90 * time.Millisecond)
		require.Empty(t, posts(listener.recorded()))
		time.Sleep(15 * time.Millisecond)
		require.Len(t, posts(listener.recorded()), 1)
	})
}

func TestEndOfAllTasksTakesAlongWhatIsHeld(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		listener := h.listen()
		h.fails("q")
		h.create(`"parent_session_id": "p"`)
		h.create(`"parent_session_id": "p"`)
		first, second := h.claim("w"), h.claim("w")
		h.finish(first, `"status": "completed"`)
		h.finish(second, `"status": "completed"`)
		require.Equal(t, [][]string{{"task.finished", "task.finished", "tasks.all_finished"}}, posts(listener.recorded()))
		time.Sleep(time.Second)
		require.Equal(t, [][]string{{"task.retry_scheduled"}}, posts(listener.recorded())) // of the other session
	})
}

func TestFailedInstructionIsAnnouncedAtOnceWithWhatIsHeld(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		listener := h.listen()
		h.fails("p")
		h.track(`{"content": "x", "session_id": "p", "max_retries": 0}`)
		h.call("dispatch_instructions", `{"session_id": "p"}`)
		h.call("dispatch_instructions", `{"session_id": "p"}`)
		require.Equal(t, [][]string{{"task.retry_scheduled", "instruction.failed"}}, posts(listener.recorded()))
	})
}

func TestNoticeOfNoSessionIsAnnouncedAtOnce(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		listener := h.listen()
		h.fails("p")
		h.create(``)
		h.finish(h.claim("w"), `"status": "completed"`)
		require.Equal(t, [][]string{{"task.finished"}}, posts(listener.recorded()))
	})
}

func TestConsumedNoticeIsNotAnnounced(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
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
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
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
			again[0].has(n, "notices.0.deliveries")
			again[0].has(n, "notices.1.deliveries")
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
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
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
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
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

func TestHeldNoticesAreAnnouncedAlthoughTheStoreCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &flakyStore{sharedStore: newSharedStore(t)}
		h := newHost(t, setup{store: st})
		listener := h.listen()
		h.fails("p")
		listener.recorded()
		st.setError(&store.Error{Kind: store.IO, Message: "a bad moment"})
		time.Sleep(time.Second)
		require.Equal(t, [][]string{{"task.retry_scheduled"}}, posts(listener.recorded()))
		st.setError(nil)
	})
}

func TestNotificationsOfTasksCarryTheirSeq(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		listener := h.listen()
		h.asked(`"parent_session_id": "p"`)
		time.Sleep(time.Second)
		require.Equal(t, []string{
			"1 task/updated", "2 attempt/updated", "2 task/updated", "3 attempt/updated", "4 task/awaiting_response", "5 notice/posted",
		}, methods(listener.recorded()))
	})
}

func TestNotificationOfALongQuestionLeavesItOut(t *testing.T) {
	timedTasks(t, setup{}, func(t *testing.T, h *host) {
		listener := h.listen()
		for _, size := range []int{4 << 10, 4<<10 + 1} {
			h.create(``)
			h.finish(h.claim("w"), fmt.Sprintf(`"status": "awaiting_response", "question": "%0*d"`, size, 0))
			for _, n := range listener.recorded() {
				if n.method == "task/awaiting_response" {
					_, shown := n.find("question")
					require.Equal(t, size == 4<<10, shown)
				}
			}
		}
	})
}

// The last unfinished task of a session posts one notice, and another one after a retry.
func TestAllFinishedIsToldWhenTheLastOneEnds(t *testing.T) {
	h := newHost(t, setup{})
	all := func() int {
		n := 0
		for _, kind := range h.call("list_notices", `{"limit": 500}`).each("items", "kind") {
			if kind == "tasks.all_finished" {
				n++
			}
		}
		return n
	}
	first := h.create(`"parent_session_id": "p"`)
	waiting := h.create(`"parent_session_id": "p"`)
	failing := h.create(`"parent_session_id": "p", "max_attempts": 1`)
	h.finish(h.claim("w"), `"status": "completed"`)
	h.finish(h.claim("w"), `"status": "awaiting_response", "question": "?"`)
	h.finish(h.claim("w"), overloaded).has("ERROR", "task.status")
	require.Zero(t, all(), "one waits for a person")
	h.call("reply", `{"task_id": %q, "reply": "x"}`, waiting)
	h.finish(h.claim("w"), `"status": "completed"`)
	require.Equal(t, 1, all())
	list := h.call("list_notices", `{"limit": 500}`)
	last := len(list.at("items").([]any)) - 1
	require.True(t, strings.HasPrefix(list.str(fmt.Sprintf("items.%d.text", last)), "all 3 tasks of session p are over: 2 complete, 1 not\n- task "+failing+` "do it": ERROR`))
	list.has(map[string]any{"COMPLETE": 2.0, "ERROR": 1.0}, fmt.Sprintf("items.%d.data.counts", last))
	h.call("retry_task", `{"task_id": %q}`, failing)
	require.Equal(t, 1, all())
	h.finish(h.claim("w"), `"status": "completed"`)
	require.Equal(t, 2, all())
	h.is("COMPLETE", first)
}

func TestAllFinishedIsNotToldAgainForATaskThatWasOver(t *testing.T) {
	h := newHost(t, setup{})
	h.create(`"parent_session_id": "p"`)
	h.finish(h.claim("w"), `"status": "completed"`)
	id := h.create(`"parent_session_id": "p"`)
	h.call("cancel_task", `{"task_id": %q}`, id)
	h.call("cancel_task", `{"task_id": %q}`, id)
	require.Equal(t, []string{"task.finished", "tasks.all_finished", "task.finished", "tasks.all_finished"},
		h.call("list_notices", `{}`).each("items", "kind"))
}

func TestTimelineComesWithTheEndOnlyOfSeveralAttempts(t *testing.T) {
	h := newHost(t, setup{})
	h.create(`"max_attempts": 1`)
	h.finish(h.claim("w"), `"status": "completed"`)
	id := h.create(`"max_attempts": 1`)
	h.finish(h.claim("w"), overloaded)
	h.call("retry_task", `{"task_id": %q}`, id)
	h.finish(h.claim("w"), `"status": "completed"`)
	notices := h.call("list_notices", `{}`)
	notices.lacks("items.0.data.timeline")
	notices.lacks("items.1.data.timeline")
	notices.has("Attempt 1 — ERROR — unknown-model — unknown — overloaded\nAttempt 2 — COMPLETED — unknown-model — unknown",
		"items.2.data.timeline")
}
