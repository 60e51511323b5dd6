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
	"waybill/core/coretest"
	"waybill/schema/codec"
	"waybill/store"
)

// A noteListener records the notifications of a host.
type noteListener struct {
	t     *testing.T
	mu    sync.Mutex // guards notes
	notes []note
}

// A note is a notification: its method and its params.
type note struct {
	method string
	object
}

// listen records notifications until the test ends. It needs fake time.
func (h *host) listen() *noteListener {
	h.t.Helper()
	l := &noteListener{t: h.t}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Notify(ctx, l.record) }() // ends with ctx
	h.t.Cleanup(func() {
		cancel()
		require.NoError(h.t, <-ended)
	})
	synctest.Wait()
	return l
}

func (l *noteListener) record(method string, params any) {
	text, err := codec.Encode(params)
	if err != nil {
		l.t.Error(err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, note{method, newObject(l.t, text)})
}

// recorded waits until no more notifications follow, and returns those since the last call.
func (l *noteListener) recorded() []note {
	time.Sleep(5 * time.Millisecond)
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	notes := l.notes
	l.notes = nil
	return notes
}

// methods returns the methods of notifications, each with its seq.
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
		listener := h.listen()
		id := h.track(`{"content":"x","session_id":"s","max_retries":0,"priority":true}`)
		notes := listener.recorded()
		require.Equal(t, []string{"1 instruction/available"}, methods(notes))
		require.JSONEq(t, fmt.Sprintf(`{"seq":1,"subject_id":%q,"instruction_id":%q,"session_id":"s","state":"queued",
			"tracked":true,"priority":true,"sends":0,"sends_max":1,"content":"x","content_bytes":1}`, id, id), notes[0].text)

		h.call("dispatch_instructions", `{"session_id":"s"}`)
		h.call("dispatch_instructions", `{"session_id":"s"}`)
		notes = listener.recorded()
		require.Equal(t, []string{"2 instruction/updated", "3 instruction/updated", "4 notice/posted"}, methods(notes))
		notes[0].has("sent", "state")
		notes[1].has("failed", "state")
		notes[2].has(id, "notice.subject_id")
		notes[2].has(1, "notice.deliveries")

		h.call("acknowledge", `{"instruction_id":%q}`, id) // late
		h.call("consume_notices", `{"notice_ids":[%q]}`, notes[2].str("notice.notice_id"))
		require.Equal(t, []string{"5 instruction/updated"}, methods(listener.recorded()))
	})
}

// Each notification shows the state after its event, even if the instruction changed since.
func TestNotificationsShowWhatHappenedThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		id := h.track(`{"content":"x"}`)
		h.pass()
		h.pass()
		h.call("cancel_instruction", `{"instruction_id":%q,"reason":"enough"}`, id)
		listener := h.listen()
		states := []string{}
		for _, n := range listener.recorded() {
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
		listener := h.listen()
		h.call("queue_instruction", `{"content":"%0*d"}`, 4<<10, 0)
		h.call("queue_instruction", `{"content":"%0*d"}`, 4<<10+1, 0)
		notes := listener.recorded()
		require.Len(t, notes[0].str("content"), 4<<10)
		notes[1].lacks("content")
		notes[1].has(4<<10+1, "content_bytes")
	})
}

func TestOpenNoticesAreAnnouncedToTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), newSharedStore(t)
		h := newHost(t, setup{dir: dir, store: st})
		failed(t, h, 2)
		h.stop()
		h = newHost(t, setup{dir: dir, store: st})
		listener := h.listen()
		require.Empty(t, listener.recorded(), "the store was opened although nobody needed it")
		h.call("queue_instruction", `{"content":"x"}`)
		notes := listener.recorded()
		require.Equal(t, []string{"6 notice/posted", "8 notice/posted", "9 instruction/available"}, methods(notes))
		notes[0].has(1, "notice.deliveries")
	})
}

func TestNoticeIsAnnouncedUntilItIsConsumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		listener := h.listen()
		failed(t, h, 1)
		listener.recorded()
		var again []note
		for n := 2; n <= 4; n++ {
			time.Sleep(5 * time.Minute)
			again = listener.recorded()
			require.Equal(t, []string{"4 notice/posted"}, methods(again))
			again[0].has(n, "notice.deliveries")
		}
		h.call("consume_notices", `{"notice_ids":[%q]}`, again[0].str("notice.notice_id"))
		time.Sleep(time.Hour)
		require.Empty(t, listener.recorded())
	})
}

func TestManyEventsAreSentInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 1200 // more than one read returns
		h := newHost(t, setup{})
		listener := h.listen()
		for range many {
			h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
		}
		notes := listener.recorded()
		require.Len(t, notes, many)
		for i, n := range notes {
			n.has(i+1, "seq")
		}
	})
}

func TestChangedPlanIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := planned(t, setup{})
		listener := h.listen()
		listener.recorded()
		h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
		plan := h.call("get_plan", `{"plan":"tasks.md"}`)
		notes := listener.recorded()
		require.Equal(t, []string{"2 ledger/changed"}, methods(notes))
		notes[0].has("tasks.md", "plan")
		notes[0].has([]any{"3"}, "changed_ids")
		notes[0].has(plan.at("fingerprint"), "fingerprint")
	})
}

func TestPlanThatWasEditedUnseenOrDeletedIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, st := t.TempDir(), newSharedStore(t)
		h, run := planned(t, setup{dir: dir, store: st})
		h.stop()
		h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
		h = newHost(t, setup{dir: dir, store: st})
		listener := h.listen()
		plan := h.call("get_plan", `{"plan":"tasks.md"}`)
		notes := listener.recorded()
		require.Equal(t, []string{"2 ledger/changed"}, methods(notes))
		notes[0].has(true, "unseen")
		notes[0].has([]any{}, "changed_ids")
		notes[0].lacks("gone")
		notes[0].has(plan.at("fingerprint"), "fingerprint")

		h.remove("tasks.md")
		h.compile(run).has("ledger_plus_fallback", "ledger_mode") // event 3: the run has its facts from what was read last
		require.Empty(t, listener.recorded())
		time.Sleep(time.Second) // it may have been about to come back
		for range 2 {
			h.compile(run)
		}
		notes = listener.recorded()
		require.Equal(t, []string{"4 ledger/changed"}, methods(notes))
		notes[0].has(true, "gone")
		notes[0].has(plan.at("fingerprint"), "fingerprint")
		h.write("tasks.md", twoItems+"- [ ] 3. Third\n", time.Hour)
		h.call("get_plan", `{"plan":"tasks.md"}`)
		notes = listener.recorded()
		require.Equal(t, []string{"5 ledger/changed"}, methods(notes))
		notes[0].lacks("gone")
		notes[0].lacks("unseen")
	})
}

// A single event is sent at once, and the ones right after it a few milliseconds later.
func TestLoneEventIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		listener := h.listen()
		told := func(n int) {
			t.Helper()
			synctest.Wait()
			listener.mu.Lock()
			defer listener.mu.Unlock()
			require.Len(t, listener.notes, n)
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

// The feed does not read the log again after each event.
func TestFeedReadsABurstAsAPageAndNothingBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &counting{sharedStore: newSharedStore(t)}
		h := newHost(t, setup{store: st})
		listener := h.listen()
		h.call("queue_instruction", `{"content":"x"}`)
		require.Len(t, listener.recorded(), 1)
		before := st.views.Load()
		h.call("queue_instruction", `{"content":"x"}`)
		require.Len(t, listener.recorded(), 1)
		require.EqualValues(t, 1, st.views.Load()-before)
		for range 50 {
			h.call("queue_instruction", `{"content":"x"}`)
		}
		require.Len(t, listener.recorded(), 50)
		require.LessOrEqual(t, st.views.Load()-before, int64(3))
	})
}

// A counting store counts its views.
type counting struct {
	*sharedStore
	views atomic.Int64
}

func (s *counting) View(ctx context.Context, fn func(store.Tx) error) error {
	s.views.Add(1)
	return s.sharedStore.View(ctx, fn)
}

// A flakyStore fails some views.
type flakyStore struct {
	*sharedStore
	mu    sync.Mutex // guards fault
	fault error
}

func (s *flakyStore) setError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = err
}

func (s *flakyStore) View(ctx context.Context, fn func(store.Tx) error) error {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		return fault
	}
	return s.sharedStore.View(ctx, fn)
}

func TestNotificationsSurviveAStoreThatCannotBeReadForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &flakyStore{sharedStore: newSharedStore(t)}
		h := newHost(t, setup{store: st})
		listener := h.listen()
		h.call("queue_instruction", `{"content":"a"}`)
		require.Len(t, listener.recorded(), 1)
		st.setError(&store.Error{Kind: store.IO, Message: "a bad moment"})
		h.call("queue_instruction", `{"content":"b"}`)
		require.Empty(t, listener.recorded())
		st.setError(nil)
		h.call("queue_instruction", `{"content":"c"}`)
		require.Equal(t, []string{"2 instruction/available", "3 instruction/available"}, methods(listener.recorded()))
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

func TestEveryKindOfNoticeIsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		h.call("queue_instruction", `{"content":"x"}`) // opens the store
		listener := h.listen()
		for _, kind := range coretest.NoticeKinds() {
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
			for _, n := range listener.recorded() {
				if n.method == "notice/posted" {
					heard = append(heard, n.str("notice.kind"))
				}
			}
			require.Equal(t, []string{string(kind)}, heard)
		}
	})
}
