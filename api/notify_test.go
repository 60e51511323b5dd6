package api_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/schema"
	"waybill/store"
)

// An ear hears the notifications of a host.
type ear struct {
	t     *testing.T
	mu    sync.Mutex // guards notes
	notes []note
}

// A note is a notification: its method and its params.
type note struct {
	method string
	object
}

// listen lets a host's process send notifications until the test ends. It is for tests in a bubble.
func (h *host) listen() *ear {
	h.t.Helper()
	e := &ear{t: h.t}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Notify(ctx, e.hear) }() // ends with ctx
	h.t.Cleanup(func() {
		cancel()
		require.NoError(h.t, <-ended)
	})
	synctest.Wait()
	return e
}

func (e *ear) hear(method string, params any) {
	text, err := schema.Encode(params)
	if err != nil {
		e.t.Error(err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = append(e.notes, note{method, newObject(e.t, text)})
}

// heard gives what was sent since the last time, when nothing more is to come: the feed may be resting.
func (e *ear) heard() []note {
	time.Sleep(5 * time.Millisecond)
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	notes := e.notes
	e.notes = nil
	return notes
}

// methods gives the methods of notifications, each with its seq.
func methods(notes []note) []string {
	list := []string{}
	for _, n := range notes {
		list = append(list, fmt.Sprintf("%v %s", n.at("seq"), n.method))
	}
	return list
}

func TestNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		ear := h.listen()
		id := h.track(`{"content":"x","session_id":"s","max_retries":0,"priority":true}`)
		notes := ear.heard()
		require.Equal(t, []string{"1 instruction/available"}, methods(notes))
		require.JSONEq(t, fmt.Sprintf(`{"seq":1,"subject_id":%q,"instruction_id":%q,"session_id":"s","state":"queued",
			"tracked":true,"priority":true,"sends":0,"sends_max":1,"content":"x","content_bytes":1}`, id, id), notes[0].text)

		h.call("dispatch_instructions", `{"session_id":"s"}`)
		h.call("dispatch_instructions", `{"session_id":"s"}`)
		notes = ear.heard()
		require.Equal(t, []string{"2 instruction/updated", "3 instruction/updated", "4 notice/posted"}, methods(notes))
		notes[0].has("sent", "state")
		notes[1].has("failed", "state")
		notes[2].has(id, "notice.subject_id")
		notes[2].has(1, "notice.deliveries")

		h.call("acknowledge", `{"instruction_id":%q}`, id) // late
		h.call("consume_notices", `{"notice_ids":[%q]}`, notes[2].str("notice.notice_id"))
		require.Equal(t, []string{"5 instruction/updated"}, methods(ear.heard()))
	})
}

// Each notification shows the state that its event led to, although the instruction has moved on.
func TestNotificationsShowWhatHappenedThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id := h.track(`{"content":"x"}`)
		h.pass()
		h.pass()
		h.call("cancel_instruction", `{"instruction_id":%q,"reason":"enough"}`, id)
		ear := h.listen()
		states := []string{}
		for _, n := range ear.heard() {
			states = append(states, fmt.Sprint(n.at("state"), " ", n.at("sends")))
			if n.str("state") == "cancelled" {
				n.has("enough", "reason")
			}
		}
		require.Equal(t, []string{"queued 0", "sent 1", "sent 2", "cancelled 2"}, states)
	})
}

func TestNotificationOfALongContentLeavesItOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		ear := h.listen()
		h.call("queue_instruction", `{"content":"%0*d"}`, 4<<10, 0)
		h.call("queue_instruction", `{"content":"%0*d"}`, 4<<10+1, 0)
		notes := ear.heard()
		require.Len(t, notes[0].str("content"), 4<<10)
		notes[1].lacks("content")
		notes[1].has(4<<10+1, "content_bytes")
	})
}

// A process that comes later tells of what happens from then on, and of notices that are open.
func TestOpenNoticesAreAnnouncedToTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), newLasting()
		h := newHost(t, setup{dir: dir, store: st})
		failed(t, h, 2)
		h.stop()
		h = newHost(t, setup{dir: dir, store: st})
		ear := h.listen()
		require.Empty(t, ear.heard(), "the store was opened although nobody needed it")
		h.call("queue_instruction", `{"content":"x"}`)
		notes := ear.heard()
		require.Equal(t, []string{"6 notice/posted", "8 notice/posted", "9 instruction/available"}, methods(notes))
		notes[0].has(1, "notice.deliveries")
	})
}

func TestNoticeIsAnnouncedUntilItIsConsumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		ear := h.listen()
		failed(t, h, 1)
		ear.heard()
		var again []note
		for n := 2; n <= 4; n++ {
			time.Sleep(5 * time.Minute)
			again = ear.heard()
			require.Equal(t, []string{"4 notice/posted"}, methods(again))
			again[0].has(n, "notice.deliveries")
		}
		h.call("consume_notices", `{"notice_ids":[%q]}`, again[0].str("notice.notice_id"))
		time.Sleep(time.Hour)
		require.Empty(t, ear.heard())
	})
}

func TestManyEventsAreSentInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 1200 // more than one reading gives
		h := newHost(t, setup{})
		ear := h.listen()
		for range many {
			h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
		}
		notes := ear.heard()
		require.Len(t, notes, many)
		for i, n := range notes {
			n.has(i+1, "seq")
		}
	})
}

func TestChangedPlanIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := planned(t, setup{})
		ear := h.listen()
		ear.heard()
		h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
		plan := h.call("get_plan", `{"plan":"tasks.md"}`)
		notes := ear.heard()
		require.Equal(t, []string{"2 ledger/changed"}, methods(notes))
		notes[0].has("tasks.md", "plan")
		notes[0].has([]any{"3"}, "changed_ids")
		notes[0].has(plan.at("fingerprint"), "fingerprint")
	})
}

// The defect: a change was told only to those who asked if nobody ran when it was made, and a plan
// that was deleted was never mentioned.
func TestPlanThatWasEditedUnseenOrDeletedIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), newLasting()
		h, run := planned(t, setup{dir: dir, store: st})
		h.stop()
		h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
		h = newHost(t, setup{dir: dir, store: st})
		ear := h.listen()
		plan := h.call("get_plan", `{"plan":"tasks.md"}`)
		notes := ear.heard()
		require.Equal(t, []string{"2 ledger/changed"}, methods(notes))
		notes[0].has(true, "unseen")
		notes[0].has([]any{}, "changed_ids")
		notes[0].lacks("gone")
		notes[0].has(plan.at("fingerprint"), "fingerprint")

		h.remove("tasks.md")
		h.compile(run).has("ledger_plus_fallback", "ledger_mode") // event 3: the run has its facts from what was read last
		require.Empty(t, ear.heard())
		time.Sleep(time.Second) // it may have been about to come back
		for range 2 {
			h.compile(run)
		}
		notes = ear.heard()
		require.Equal(t, []string{"4 ledger/changed"}, methods(notes))
		notes[0].has(true, "gone")
		notes[0].has(plan.at("fingerprint"), "fingerprint")
		h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
		h.call("get_plan", `{"plan":"tasks.md"}`)
		notes = ear.heard()
		require.Equal(t, []string{"5 ledger/changed"}, methods(notes))
		notes[0].lacks("gone")
		notes[0].lacks("unseen")
	})
}

// A lone event is told at once. What follows on its heels is told a few milliseconds later.
func TestLoneEventIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		ear := h.listen()
		told := func(n int) {
			t.Helper()
			synctest.Wait()
			ear.mu.Lock()
			defer ear.mu.Unlock()
			require.Len(t, ear.notes, n)
		}
		for round := range 3 {
			time.Sleep(time.Second)
			h.call("queue_instruction", `{"content":"x"}`)
			told(3*round + 1)
			h.call("queue_instruction", `{"content":"y"}`)
			h.call("queue_instruction", `{"content":"z"}`)
			told(3*round + 1)
			time.Sleep(5 * time.Millisecond)
			told(3*round + 3)
		}
	})
}

// The defect: after each event, the feed read the log once more to find nothing.
func TestFeedReadsABurstAsAPageAndNothingBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &counting{lasting: newLasting()}
		h := newHost(t, setup{store: st})
		ear := h.listen()
		h.call("queue_instruction", `{"content":"x"}`)
		require.Len(t, ear.heard(), 1)
		before := st.views.Load()
		h.call("queue_instruction", `{"content":"x"}`)
		require.Len(t, ear.heard(), 1)
		require.EqualValues(t, 1, st.views.Load()-before)
		for range 50 {
			h.call("queue_instruction", `{"content":"x"}`)
		}
		require.Len(t, ear.heard(), 50)
		require.LessOrEqual(t, st.views.Load()-before, int64(3))
	})
}

// A counting store counts its views.
type counting struct {
	*lasting
	views atomic.Int64
}

func (s *counting) View(ctx context.Context, fn func(store.Tx) error) error {
	s.views.Add(1)
	return s.lasting.View(ctx, fn)
}

// A view that fails now and then.
type moody struct {
	*lasting
	mu    sync.Mutex // guards fault
	fault error
}

func (s *moody) spoil(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

func (s *moody) View(ctx context.Context, fn func(store.Tx) error) error {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		return fault
	}
	return s.lasting.View(ctx, fn)
}

func TestNotificationsSurviveAStoreThatCannotBeReadForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &moody{lasting: newLasting()}
		h := newHost(t, setup{store: st})
		ear := h.listen()
		h.call("queue_instruction", `{"content":"a"}`)
		require.Len(t, ear.heard(), 1)
		st.spoil(&store.Error{Kind: store.IO, Message: "a bad moment"})
		h.call("queue_instruction", `{"content":"b"}`)
		require.Empty(t, ear.heard())
		st.spoil(nil)
		h.call("queue_instruction", `{"content":"c"}`)
		require.Equal(t, []string{"2 instruction/available", "3 instruction/available"}, methods(ear.heard()))
	})
}

func TestNotifyEndsBeforeAnythingBegan(t *testing.T) {
	h := newHost(t, setup{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, h.Notify(ctx, func(string, any) { t.Error("nothing has happened") }))
}

func TestSubscribersAreWokenByEveryCommit(t *testing.T) {
	h := newHost(t, setup{})
	wake, stop, err := h.Subscribe()
	require.NoError(t, err)
	defer stop()
	for range 3 {
		h.call("queue_instruction", `{"content":"x"}`)
		<-wake
	}
}

// The defect: a notice of a kind that the feed did not know ended the process.
func TestEveryKindOfNoticeIsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		h.call("queue_instruction", `{"content":"x"}`) // opens the store
		ear := h.listen()
		for _, kind := range core.NoticeKinds() {
			seq := h.seq() + 1
			require.NoError(t, h.store.Update(t.Context(), func(tx store.Tx) error {
				id := fmt.Sprint("ntc_", seq)
				if err := tx.PutNotice(store.Notice{ID: id, Kind: kind, Subject: "x", Text: "x", Data: "{}", CreatedAt: 1, Position: seq}); err != nil {
					return err
				}
				_, err := tx.Append(store.Event{Type: core.NoticePosted, Subject: id, Data: "{}"})
				return err
			}))
			h.call("queue_instruction", `{"content":"x"}`) // wakes the feed
			heard := []string{}
			for _, n := range ear.heard() {
				if n.method == "notice/posted" {
					heard = append(heard, n.str("notice.kind"))
				}
			}
			require.Equal(t, []string{string(kind)}, heard)
		}
	})
}
