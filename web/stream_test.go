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
	"waybill/store/memory"
)

// happen makes so many events.
func (h *house) happen(n int) {
	h.t.Helper()
	for range n {
		h.call("queue_instruction", `{"content":"x"}`)
	}
}

func TestStreamTellsWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.happen(3)
		l := h.stream(t, "")
		l.head.guarded()
		require.Equal(t, 200, l.head.status)
		require.Equal(t, "text/event-stream", l.head.header.Get("Content-Type"))
		require.Len(t, l.heard(), 1, "it says at once where it is")
		ready := l.heard()[0]
		require.Equal(t, event{ready.id, "ready", fmt.Sprintf(`{"cursor":%q}`, ready.id)}, ready)
		require.Regexp(t, `^3\.[0-9a-f]{8}$`, ready.id)
		h.happen(2)
		require.Equal(t, []string{"4", "5"}, l.news())
		require.Equal(t, "instruction.queued", read(t, []byte(l.heard()[1].data)).str("type"))
	})
}

func TestStreamOfAnEmptyLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		l := h.stream(t, "?cursor=0")
		require.Equal(t, []event{{"0", "ready", `{"cursor":"0"}`}}, l.heard())
		h.happen(1)
		require.Equal(t, []string{"1"}, l.news())
	})
}

// The connection breaks; the client comes back and says what it had last.
func TestFaultW15_BrokenStreamGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		l := h.stream(t, "")
		h.happen(5)
		require.Equal(t, numbers(1, 5), l.news())
		l.leave()
		h.happen(2000) // more than is kept for streams, and more than one page
		l = h.stream(t, "", "Last-Event-ID: 3")
		require.Equal(t, numbers(4, 2005), l.news())
		h.happen(1)
		require.Equal(t, numbers(4, 2006), l.news())
		require.Equal(t, numbers(2, 2006), h.stream(t, "?cursor=1").news())
		require.Equal(t, numbers(7, 2006), h.stream(t, "?cursor=1", "Last-Event-ID: 6").news())
	})
}

// waybill is started again, at another port: what a client had last still says where it was.
func TestFaultW15_SeqOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := lasting{memory.New()}
		h := build(t, plot{store: there})
		l := h.stream(t, "")
		h.happen(4)
		require.Equal(t, numbers(1, 4), l.news())
		h.close()
		require.Regexp(t, `^4\.`, l.last(schema.ShuttingDown))
		again := build(t, plot{store: there})
		l = again.stream(t, "", "Last-Event-ID: 2")
		again.happen(1)
		require.Equal(t, numbers(3, 5), l.news())
	})
}

// A log takes the place of another one: streams of that one end and say so, and none goes on behind the number that it had.
func TestStreamOfAReplacedLogEnds(t *testing.T) {
	for _, events := range []int{1, 3, 5} {
		synctest.Test(t, func(t *testing.T) {
			other := lasting{memory.New()}
			before := build(t, plot{store: other})
			before.happen(events)
			before.close()
			st := &replaceable{Store: lasting{memory.New()}, changed: make(chan struct{}, 1)}
			h := build(t, plot{store: st})
			l := h.stream(t, "")
			h.happen(3)
			require.Equal(t, numbers(1, 3), l.news())
			st.Store = other
			st.changed <- struct{}{}
			cursor := l.last(schema.CursorGone)
			h.ask("GET", "/api/events", "", "Last-Event-ID: "+cursor).refused(404, schema.CursorGone)
			again := h.stream(t, "")
			h.happen(1)
			require.Equal(t, numbers(events+1, events+1), again.news())
		})
	}
}

// A replaceable store is one in whose place another can be put while it is open.
type replaceable struct {
	store.Store
	changed chan struct{} // size 1, never closed
}

func (r *replaceable) Changed() <-chan struct{} { return r.changed }

// Nothing happens for long; the stream shows that it is there.
func TestFaultW15_QuietStreamIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		l := h.stream(t, "")
		time.Sleep(10 * time.Minute)
		l.heard()
		require.Equal(t, 40, l.alive)
		h.happen(1)
		require.Equal(t, numbers(1, 1), l.news())
	})
}

// The cursor is none, or of another log.
func TestStreamFromNowhereIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.happen(3)
		o := h.ask("GET", "/api/events?cursor=99", "").refused(404, schema.CursorGone)
		require.Equal(t, "0", o.str("error.data.details.oldest"))
		h.ask("GET", "/api/events", "", "Last-Event-ID: 99").refused(404, schema.CursorGone)
		h.ask("GET", "/api/events", "", "Last-Event-ID: x").refused(400, schema.InvalidParams)
		h.ask("GET", "/api/events", "", "Last-Event-ID: \xff").refused(400, schema.InvalidUTF8)
		h.ask("GET", "/api/events?cursor=-1", "").refused(400, schema.InvalidParams)
		h.ask("GET", "/api/events?cursor=1&cursor=2", "").refused(400, schema.DuplicateKey)
		h.ask("GET", "/api/events?since=1", "").refused(400, schema.UnknownField)
		require.Equal(t, numbers(4, 4), func() []string {
			l := h.stream(t, "")
			h.happen(1)
			return l.news()
		}(), "a refused stream leaves nothing behind")
	})
}

// Many streams cost no more reads of the log than one does, and none when they are gone.
func TestStreamsShareOneReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards reads
		reads := 0
		h := build(t, plot{methods: map[string]func(starter) starter{"events_since": func(start starter) starter {
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
		var all []*listener
		for range 32 {
			all = append(all, h.stream(t, ""))
		}
		require.Equal(t, 1, count())
		h.ask("GET", "/api/events", "").refused(429, schema.Overloaded)
		h.happen(1)
		require.Equal(t, 1, count())
		for _, l := range all {
			require.Equal(t, numbers(1, 1), l.news())
			l.leave()
		}
		synctest.Wait()
		h.happen(1)
		require.Zero(t, count())
		l := h.stream(t, "", "Last-Event-ID: 1")
		h.happen(1)
		require.Equal(t, numbers(2, 3), l.news())
	})
}

// A browser has a tab for each task: there is room for its calls beside its streams.
func TestFaultW14_StreamsLeaveRoomForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		for range 32 {
			h.stream(t, "")
		}
		h.ask("GET", "/api/events", "").refused(429, schema.Overloaded)
		for range 64 {
			h.ask("GET", "/api/tasks", "").ok()
		}
	})
}

// A client reads nothing for a while, and much happens: it gets what there was room for, and is told.
func TestSlowStreamEndsWithAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		l := h.deaf(t, "")
		other := h.stream(t, "")
		for range 3 { // no more at a time than is kept, so that who listens has it, however late it is woken
			h.happen(667)
			synctest.Wait()
		}
		close(l.listens)
		cursor := l.last(schema.Overloaded)
		require.Equal(t, numbers(1, len(l.news())), l.news())
		require.Less(t, len(l.news()), 2001)
		require.Equal(t, numbers(1, 2001), other.news(), "the others do not wait for it")
		again := h.stream(t, "", "Last-Event-ID: "+cursor)
		require.Equal(t, numbers(len(l.news())+1, 2001), again.news())
	})
}

// A client never reads: it is dropped, for there is no way to tell it.
func TestFaultW9_StreamThatNobodyReadsIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		l := h.deaf(t, "")
		h.happen(1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		_, err := l.conn.Write([]byte("x"))
		require.Error(t, err, "the connection is still there")
	})
}

// The process leaves while streams are open.
func TestStreamsEndWhenTheProcessLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		first, second, deaf := h.stream(t, ""), h.stream(t, "?cursor=0"), h.deaf(t, "")
		h.happen(2)
		require.Equal(t, numbers(1, 2), first.news())
		h.leave()
		require.Regexp(t, `^2\.`, first.last(schema.ShuttingDown))
		require.Regexp(t, `^2\.`, second.last(schema.ShuttingDown))
		err := <-h.gone // although one does not read
		h.gone <- err
		require.NoError(t, err)
		deaf.leave()
	})
}

// The log cannot be read for a while, and then not at all.
func TestStreamOutlivesTroubleThatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards fault
		var fault *schema.Error
		set := func(e *schema.Error) {
			mu.Lock()
			defer mu.Unlock()
			fault = e
		}
		h := build(t, plot{methods: map[string]func(starter) starter{"events_since": func(start starter) starter {
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
		h.happen(2)
		require.Empty(t, l.news())
		set(nil)
		time.Sleep(time.Second)
		require.Equal(t, numbers(1, 2), l.news())
		set(schema.NewError(schema.StoreCorrupt, "a record is damaged"))
		h.happen(1)
		require.Regexp(t, `^2\.`, l.last(schema.StoreCorrupt))
		h.ask("GET", "/api/events", "").refused(503, schema.StoreCorrupt)
		h.ask("GET", "/api/events?cursor=1", "").refused(503, schema.StoreCorrupt)
		set(nil)
		require.Equal(t, numbers(2, 3), h.stream(t, "?cursor=1").news())
	})
}

func TestStreamWithoutAWorkspaceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{subscribe: func() (<-chan struct{}, func(), error) { return nil, nil, errors.New("there is nothing") }})
		h.ask("GET", "/api/events", "").refused(500, schema.Internal)
	})
}
