package web_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/store"
	"waybill/test/teststore"
)

// addEvents adds n events.
func (h *harness) addEvents(n int) {
	h.t.Helper()
	for range n {
		h.call("queue_instruction", `{"content":"x"}`)
	}
}

func TestStreamSendsEvents(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		empty := h.stream(t, "?cursor=0")
		require.Equal(t, []event{{"0", "ready", `{"cursor":"0"}`}}, empty.received())
		h.addEvents(3)
		require.Equal(t, numbers(1, 3), empty.eventSeqs())
		l := h.stream(t, "")
		l.head.requireSecurityHeaders()
		require.Equal(t, 200, l.head.status)
		require.Equal(t, "text/event-stream", l.head.header.Get("Content-Type"))
		require.Len(t, l.received(), 1, "it says at once where it is")
		ready := l.received()[0]
		require.Equal(t, event{ready.id, "ready", fmt.Sprintf(`{"cursor":%q}`, ready.id)}, ready)
		require.Regexp(t, `^3\.[0-9a-f]{8}$`, ready.id)
		h.addEvents(2)
		require.Equal(t, []string{"4", "5"}, l.eventSeqs())
		require.Equal(t, "instruction.queued", read(t, []byte(l.received()[1].data)).str("type"))
	})
}

// The connection breaks; the client comes back and says what it had last.
func TestReconnectedStreamContinues(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		l := h.stream(t, "")
		h.addEvents(5)
		require.Equal(t, numbers(1, 5), l.eventSeqs())
		l.leave()
		h.addEvents(2000) // more than is kept for streams, and more than one page
		l = h.stream(t, "", "Last-Event-ID: 3")
		require.Equal(t, numbers(4, 2005), l.eventSeqs())
		h.addEvents(1)
		require.Equal(t, numbers(4, 2006), l.eventSeqs())
		require.Equal(t, numbers(2, 2006), h.stream(t, "?cursor=1").eventSeqs())
		require.Equal(t, numbers(7, 2006), h.stream(t, "?cursor=1", "Last-Event-ID: 6").eventSeqs())
	})
}

// waybill is started again, at another port: what a client had last still says where it was.
func TestCursorOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := teststore.New(t)
		h := newHarness(t, setup{store: there})
		l := h.stream(t, "")
		h.addEvents(4)
		require.Equal(t, numbers(1, 4), l.eventSeqs())
		h.close()
		require.Regexp(t, `^4\.`, l.endedWith(schema.ShuttingDown))
		again := newHarness(t, setup{store: there})
		l = again.stream(t, "", "Last-Event-ID: 2")
		again.addEvents(1)
		require.Equal(t, numbers(3, 5), l.eventSeqs())
	})
}

// A log takes the place of another one: streams of that one end and say so, and none goes on behind the number that it had.
func TestStreamOfAReplacedLogEnds(t *testing.T) {
	for _, events := range []int{1, 3, 5} {
		synctest.Test(t, func(t *testing.T) {
			other := teststore.New(t)
			before := newHarness(t, setup{store: other})
			before.addEvents(events)
			before.close()
			st := &replaceableStore{Store: teststore.New(t), changed: make(chan struct{}, 1)}
			h := newHarness(t, setup{store: st})
			l := h.stream(t, "")
			h.addEvents(3)
			require.Equal(t, numbers(1, 3), l.eventSeqs())
			st.Store = other
			st.changed <- struct{}{}
			cursor := l.endedWith(schema.CursorGone)
			h.ask("GET", "/api/events", "", "Last-Event-ID: "+cursor).requireError(404, schema.CursorGone)
			again := h.stream(t, "")
			h.addEvents(1)
			require.Equal(t, numbers(events+1, events+1), again.eventSeqs())
		})
	}
}

// A replaceableStore store is one in whose place another can be put while it is open.
type replaceableStore struct {
	store.Store
	changed chan struct{} // size 1, never closed
}

func (r *replaceableStore) Changed() <-chan struct{} { return r.changed }

// Nothing happens for long; the stream shows that it is there.
func TestQuietStreamSendsKeepAlives(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		l := h.stream(t, "")
		time.Sleep(10 * time.Minute)
		l.received()
		require.Equal(t, 40, l.alive)
		h.addEvents(1)
		require.Equal(t, numbers(1, 1), l.eventSeqs())
	})
}

// The cursor is none, or of another log.
func TestStreamFromAnInvalidCursorIsRefused(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		h.addEvents(3)
		o := h.ask("GET", "/api/events?cursor=99", "").requireError(404, schema.CursorGone)
		require.Equal(t, "0", o.str("error.data.details.oldest"))
		require.Equal(t, numbers(4, 4), func() []string {
			l := h.stream(t, "")
			h.addEvents(1)
			return l.eventSeqs()
		}(), "a refused stream leaves nothing behind")
	})
}

// Many streams cost no more reads of the log than one does, leave room for calls, and cost none when they are gone.
func TestStreamsShareOneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards reads
		reads := 0
		h := newHarness(t, setup{methods: methods{"events_since": func(start startFunc) startFunc {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				mu.Lock()
				reads++
				mu.Unlock()
				start(ctx, params, done)
			}
		}}})
		count := func() int {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			n := reads
			reads = 0
			return n
		}
		var all []*streamReader
		for range 32 {
			all = append(all, h.stream(t, ""))
		}
		require.Equal(t, 1, count())
		h.ask("GET", "/api/events", "").requireError(429, schema.Overloaded)
		for range 64 {
			h.ask("GET", "/api/tasks", "").requireOK()
		}
		h.addEvents(1)
		require.Equal(t, 1, count())
		for _, l := range all {
			require.Equal(t, numbers(1, 1), l.eventSeqs())
			l.leave()
		}
		synctest.Wait()
		h.addEvents(1)
		require.Zero(t, count())
		l := h.stream(t, "", "Last-Event-ID: 1")
		h.addEvents(1)
		require.Equal(t, numbers(2, 3), l.eventSeqs())
	})
}

// A client reads nothing for a while, and much happens: it gets what there was room for, and is told.
func TestSlowStreamEndsWithAnError(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		l := h.unreadStream(t, "")
		other := h.stream(t, "")
		for range 3 { // no more at a time than the tail keeps, so that a late reader misses none
			h.addEvents(667)
			synctest.Wait()
		}
		close(l.listens)
		cursor := l.endedWith(schema.Overloaded)
		require.Equal(t, numbers(1, len(l.eventSeqs())), l.eventSeqs())
		require.Less(t, len(l.eventSeqs()), 2001)
		require.Equal(t, numbers(1, 2001), other.eventSeqs(), "the others do not wait for it")
		again := h.stream(t, "", "Last-Event-ID: "+cursor)
		require.Equal(t, numbers(len(l.eventSeqs())+1, 2001), again.eventSeqs())
	})
}

// A client that never reads is disconnected.
func TestUnreadStreamIsDropped(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		l := h.unreadStream(t, "")
		h.addEvents(1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_, err := l.conn.Write([]byte("x"))
		require.Error(t, err, "the connection is still there")
	})
}

// The server shuts down while streams are open.
func TestStreamsEndAtShutdown(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		first, second, deaf := h.stream(t, ""), h.stream(t, "?cursor=0"), h.unreadStream(t, "")
		h.addEvents(2)
		require.Equal(t, numbers(1, 2), first.eventSeqs())
		h.shutDown()
		require.Regexp(t, `^2\.`, first.endedWith(schema.ShuttingDown))
		require.Regexp(t, `^2\.`, second.endedWith(schema.ShuttingDown))
		err := <-h.ended // although one does not read
		h.ended <- err
		require.NoError(t, err)
		deaf.leave()
	})
}

// The log cannot be read for a while, and then not at all.
func TestStreamSurvivesTemporaryErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards fault
		var fault *schema.Error
		set := func(e *schema.Error) {
			mu.Lock()
			defer mu.Unlock()
			fault = e
		}
		h := newHarness(t, setup{methods: methods{"events_since": func(start startFunc) startFunc {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				mu.Lock()
				e := fault
				mu.Unlock()
				if e != nil {
					done(api.Answer{Err: e})
					return
				}
				start(ctx, params, done)
			}
		}}})
		l := h.stream(t, "")
		set(schema.NewError(schema.StoreBusy, "another process holds the store"))
		h.addEvents(2)
		require.Empty(t, l.eventSeqs())
		set(nil)
		time.Sleep(time.Second)
		require.Equal(t, numbers(1, 2), l.eventSeqs())
		set(schema.NewError(schema.StoreCorrupt, "a record is damaged"))
		h.addEvents(1)
		require.Regexp(t, `^2\.`, l.endedWith(schema.StoreCorrupt))
		h.ask("GET", "/api/events", "").requireError(503, schema.StoreCorrupt)
		h.ask("GET", "/api/events?cursor=1", "").requireError(503, schema.StoreCorrupt)
		set(nil)
		require.Equal(t, numbers(2, 3), h.stream(t, "?cursor=1").eventSeqs())
	})
}

func TestStreamWithoutAWorkspaceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{subscribe: func() (<-chan struct{}, func(), error) { return nil, nil, errors.New("there is nothing") }})
		h.ask("GET", "/api/events", "").requireError(500, schema.Internal)
	})
}
