package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// A notifier is one that the test can make send, from its beginning on.
type notifier struct {
	send  func(method string, params any)
	ended bool
}

func (n *notifier) option(o *rpc.Options) {
	o.Notify = func(ctx context.Context, send func(string, any)) error {
		n.send = send
		<-ctx.Done()
		n.ended = true
		return ctx.Err()
	}
}

// A note is what the notifications of these tests say.
type note struct {
	Seq int `json:"seq"`
}

// Notifications are sent once the framing is known, in the order in which they were given, behind the
// answers that were given before.
func TestNotifications(t *testing.T) {
	for _, framing := range bothFramings {
		synctest.Test(t, func(t *testing.T) {
			n := &notifier{}
			h := connect(t, newFixture(), n.option)
			h.framing = framing
			synctest.Wait()
			require.Nil(t, n.send, "nobody knows yet how to say it")
			h.send(request(1, "ping", ""))
			n.send("task/updated", &note{1})
			n.send("ledger/changed", &note{2})
			n.send("log", nil)
			require.Equal(t, []string{
				`{"jsonrpc":"2.0","id":1,"result":{"pong":true}}`,
				`{"jsonrpc":"2.0","method":"task/updated","params":{"seq":1}}`,
				`{"jsonrpc":"2.0","method":"ledger/changed","params":{"seq":2}}`,
				`{"jsonrpc":"2.0","method":"log"}`,
			}, h.received())
			require.Zero(t, h.end())
			require.True(t, n.ended)
			n.send("log", nil)
		})
	}
}

// An answer is written before what is announced after it, although another goroutine announces it.
func TestAnswerPrecedesItsNotification(t *testing.T) {
	n := &notifier{}
	var mu sync.Mutex // makes answering and announcing one
	act := entry("act", schema.Change, func(_ context.Context, params []byte, done func(api.Answer)) {
		id := string(params)
		go func() { // ends at once
			mu.Lock()
			defer mu.Unlock()
			done(api.Answer{Result: id})
			n.send("acted", id)
		}()
	})
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		h.send("{}") // the notifier begins
		for i := range 100 {
			h.sendRaw(framed(wire.Lines, request(i, "act", fmt.Sprint(i))))
		}
		heard := h.received()[1:]
		require.Len(t, heard, 200)
		for i := 0; i < 200; i += 2 {
			id := parse(t, heard[i]).ID
			require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"acted","params":"%s"}`, id), heard[i+1])
		}
	}, table(act), n.option)
}

// A host that does not read loses notifications. A log notification in their place has their number.
func TestDroppedNotificationsAreCounted(t *testing.T) {
	n, tally := &notifier{}, &wire.Tally{}
	serveUnread(t, func(t *testing.T, _ *fixture, h *host) {
		h.send(request(1, "ping", ""))
		const sent = 10_000
		for i := range sent {
			n.send("noted", &note{i})
		}
		h.listen()
		heard := h.received()
		require.Equal(t, `1 {"pong":true}`, brief(t, heard[0]))
		notes, marker := heard[1:len(heard)-1], heard[len(heard)-1]
		require.GreaterOrEqual(t, len(notes), 256)
		for i, text := range notes {
			require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"noted","params":{"seq":%d}}`, i), text)
		}
		require.Regexp(t, `"method":"log","params":{"level":"warning","message":".*events_since returns all events","dropped":`+fmt.Sprint(sent-len(notes))+`}`, marker)
		n.send("noted", &note{sent})
		require.Len(t, h.received(), 1, "the gap is over")
		require.EqualValues(t, sent-len(notes), tally.Status().NotificationsDropped)
	}, n.option, func(o *rpc.Options) { o.Tally = tally })
}

// The marker stands before the next notification, if there is one.
func TestDropCountPrecedesTheNextNotification(t *testing.T) {
	n := &notifier{}
	serveUnread(t, func(t *testing.T, _ *fixture, h *host) {
		h.send(request(1, "ping", ""))
		for i := range 1000 {
			n.send("noted", &note{i})
		}
		time.Sleep(time.Second) // what is queued gets encoded meanwhile, which makes room
		n.send("noted", &note{1000})
		h.listen()
		heard := h.received()
		require.Contains(t, heard[len(heard)-2], `"dropped":`)
		require.Contains(t, heard[len(heard)-1], `"seq":1000`)
	}, n.option)
}

// A failing notifier does not end the session.
func TestSessionSurvivesAFailingNotifier(t *testing.T) {
	for want, fail := range map[string]func(send func(string, any)) error{
		"the notifier panicked":            func(func(string, any)) error { panic("no idea") },
		`cause="the log is gone"`:          func(func(string, any)) error { return errors.New("the log is gone") },
		"a notification cannot be encoded": func(send func(string, any)) error { send("unspeakable", "\xff"); return nil },
	} {
		serve(t, func(t *testing.T, _ *fixture, h *host) {
			require.Equal(t, `1 {"pong":true}`, brief(t, h.ask(request(1, "ping", ""))))
			require.Contains(t, h.log.text(), want)
			require.Equal(t, `2 {"pong":true}`, brief(t, h.ask(request(2, "ping", ""))))
		}, func(o *rpc.Options) {
			o.Notify = func(_ context.Context, send func(string, any)) error { return fail(send) }
		})
	}
}

// Every byte of both directions is counted once, whoever writes it: the answers to few requests are written on the
// spot, those to many by the writer.
func TestTallyCountsBytes(t *testing.T) {
	for _, f := range bothFramings {
		tally := new(wire.Tally)
		serve(t, func(t *testing.T, _ *fixture, h *host) {
			h.framing = f
			in, out := 0, 0
			converse := func(messages ...string) {
				for _, m := range messages {
					in += len(framed(f, m))
				}
				h.send(messages...)
				for _, answer := range h.received() {
					out += len(framed(f, answer))
				}
				stats := tally.Stats()
				require.EqualValues(t, in, stats.BytesIn)
				require.EqualValues(t, out, stats.BytesOut)
			}
			converse(request(1, "ping", ""))
			converse(request(2, "find", `"`+strings.Repeat("x", 300_000)+`"`))
			converse("["+strings.Repeat(request(3, "ping", "")+",", 9)+request(4, "ping", "")+"]", request(5, "ping", ""))
		}, func(o *rpc.Options) { o.Tally = tally })
	}
}

// What no method gets is counted by the code that it is refused with. What a method refuses is not.
func TestTallyCountsRefusedRequests(t *testing.T) {
	tally := new(wire.Tally)
	serve(t, func(t *testing.T, _ *fixture, h *host) {
		h.send(request(1, "ping", ""))
		h.send(request(1, "mumble", ""))
		h.send(`{"id":`, `{"id":1}`, request(1, "pong", ""), notification("pong", ""),
			"["+request(2, "pong", "")+",7,"+notification("pong", "")+"]", `{"jsonrpc":"2.0","id":1,"result":null}`)
		stats := tally.Stats()
		require.Equal(t, map[schema.Code]int64{schema.ParseError: 1, schema.InvalidRequest: 2, schema.MethodNotFound: 4}, stats.Refused)
		require.EqualValues(t, 1, stats.Responses)
	}, func(o *rpc.Options) { o.Tally = tally })
}
