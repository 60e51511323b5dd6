package api_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

func TestNotificationLeavesOutLongTexts(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		listener := h.listen()
		for _, size := range []int{4 << 10, 4<<10 + 1} {
			h.call("queue_instruction", `{"content":"%0*d"}`, size, 0)
			h.create(``)
			h.finish(h.claim("w"), fmt.Sprintf(`"status": "awaiting_response", "question": "%0*d"`, size, 0))
			notes := listener.recorded()
			_, shown := notes[0].find("content")
			require.Equal(t, size == 4<<10, shown)
			notes[0].has(size, "content_bytes")
			i := slices.IndexFunc(notes, func(n note) bool { return n.method == "task/awaiting_response" })
			_, shown = notes[i].find("question")
			require.Equal(t, size == 4<<10, shown)
		}
	})
}

func TestOpenNoticesAreAnnouncedToTheNextProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, setup{})
		failed(t, h, 2)
		h = h.restart()
		listener := h.listen()
		require.Empty(t, listener.recorded(), "no call needs the store yet")
		h.call("queue_instruction", `{"content":"x"}`)
		notes := listener.recorded()
		require.Equal(t, []string{"6 notice/posted", "8 notice/posted", "9 instruction/available"}, methods(notes))
		notes[0].has(1, "notice.deliveries")
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
		h, run := planned(t, setup{})
		h.stop()
		edited := twoItems + "- [ ] 3. Third\n"
		h.write("tasks.md", edited, time.Hour)
		h = h.restart()
		listener := h.listen()
		announced := func(seq string) note {
			t.Helper()
			h.call("get_plan", `{"plan":"tasks.md"}`)
			notes := listener.recorded()
			require.Equal(t, []string{seq + " ledger/changed"}, methods(notes))
			return notes[0]
		}
		unseen := announced("2")
		unseen.has(true, "unseen", []any{}, "changed_ids")
		unseen.lacks("gone")
		print := h.call("get_plan", `{"plan":"tasks.md"}`).at("fingerprint")
		unseen.has(print, "fingerprint")

		h.remove("tasks.md")
		h.compile(run).has("ledger_plus_fallback", "ledger_mode") // event 3: the run has its facts from the last reading
		require.Empty(t, listener.recorded())
		time.Sleep(time.Second) // an editor may be about to write it again
		gone := announced("4")
		gone.has(true, "gone", print, "fingerprint")

		h.write("tasks.md", edited, time.Hour)
		back := announced("5")
		back.lacks("gone", "unseen")
		h.repairPlan("")
		h.call("get_plan", `{"plan":"tasks.md"}`)
		time.Sleep(time.Second)
		empty := announced("6")
		empty.has("empty", "stale", "empty", "stale_reason")
		h.call("events_since", `{"cursor":"5"}`).has("empty", "events.0.data.stale_reason")
		h.write("tasks.md", edited+"- [ ] 4. Fourth\n", time.Hour)
		announced("7").has([]any{"4"}, "changed_ids")
	})
}

// A single event is sent at once, and the ones right after it a few milliseconds later.
func TestLoneEventIsSentAtOnce(t *testing.T) {
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
func TestFeedReadsABurstAsOnePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newSharedStore(t)
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

func TestNotificationsContinueAfterTheStoreCouldNotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newSharedStore(t)
		h := newHost(t, setup{store: st})
		listener := h.listen()
		h.call("queue_instruction", `{"content":"a"}`)
		require.Len(t, listener.recorded(), 1)
		st.failViews(&store.Error{Kind: store.IO, Message: "a bad moment"})
		h.call("queue_instruction", `{"content":"b"}`)
		require.Empty(t, listener.recorded())
		st.failViews(nil)
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

// The feed may be woken between a commit and its answer. It then holds new events back until the answer was sent,
// also if the result of the commit is unknown.
func TestNotificationDoesNotOvertakeTheAnswerOfItsCall(t *testing.T) {
	for name, fault := range map[string]error{"committed": nil, "unknown": errors.New("the connection broke")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newSharedStore(t)
				h := newHost(t, setup{store: st})
				h.call("queue_instruction", `{"content":"before"}`)
				listening := make(chan *noteListener, 1)
				committed := func(commit func() error) error {
					st.set(func(s *sharedStore) { s.around = nil })
					require.NoError(t, commit())
					listener := h.listen() // looks at all that is committed
					require.Equal(t, []string{"1 instruction/available"}, methods(listener.recorded()))
					listening <- listener
					return fault
				}
				st.set(func(s *sharedStore) { s.around = committed })
				answer := <-h.begin(t.Context(), "queue_instruction", `{"content":"x"}`)
				require.Equal(t, fault == nil, answer.Err == nil)
				require.Equal(t, []string{"2 instruction/available"}, methods((<-listening).recorded()))
			})
		})
	}
}
