package mcp_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// A callBarrier has methods that run until the test releases them.
type callBarrier struct {
	running chan string   // gets the params of each call that runs
	release chan struct{} // closed to end them
}

func newCallBarrier() *callBarrier {
	return &callBarrier{running: make(chan string, 20_000), release: make(chan struct{})}
}

// hold returns a method that ends when it is released or its context ends.
func (s *callBarrier) hold(startFunc) startFunc {
	return func(ctx context.Context, params []byte, done func(api.Answer)) {
		s.running <- string(params)
		go func() { // ends with the method
			select {
			case <-s.release:
				done(api.Answer{Result: &schema.ReadyItems{Ready: []string{"1"}, Waiting: []schema.WaitingItem{}}})
			case <-ctx.Done():
				done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
			}
		}()
	}
}

// holdReads returns a setup whose ready_items waits for release.
func (s *callBarrier) holdReads() setup {
	return setup{methods: map[string]func(startFunc) startFunc{"ready_items": s.hold}}
}

func readyItems(id string) string {
	return inModern(id, "tools/call", tool("ready_items", `"plan":"tasks.md"`))
}

// eras says the same in both.
var eras = map[string]func(id, method, members string) string{"legacy": inLegacy, "modern": inModern}

// The host could not tell the answers of two requests with one id apart.
func TestDuplicateIDInFlightIsRefused(t *testing.T) {
	s := newCallBarrier()
	_, c := connectRaw(t, s.holdReads())
	c.send(readyItems("1"))
	<-s.running
	for _, twin := range []string{readyItems("1"), inLegacy("1", "initialize", hello), inModern("1", "tools/list", "")} {
		require.Equal(t, "1 -32600 DUPLICATE_ID", c.ask(twin))
	}
	require.Equal(t, `"1" complete`, c.ask(inModern(`"1"`, "tools/list", "")), "a string is another id")
	close(s.release)
	require.Equal(t, "1 complete", brief(t, c.nextAnswer()))
	require.Equal(t, "1 complete", c.ask(inModern("1", "tools/list", "")), "the id is free again")
}

// A defect of a handler is one answer, and the process lives.
func TestPanicBecomesAnIncident(t *testing.T) {
	broken := setup{methods: map[string]func(startFunc) startFunc{
		"ready_items": func(startFunc) startFunc {
			return func(context.Context, []byte, func(api.Answer)) { panic("a read broke") }
		},
		"acknowledge": func(startFunc) startFunc {
			return func(context.Context, []byte, func(api.Answer)) { panic("a change broke") }
		},
		"init_run": instead(func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Err: schema.NewError(schema.Internal, "something broke"), Cause: errGone})
		}),
	}}
	h, c := connectRaw(t, broken)
	c.initialize()
	for name, in := range eras {
		for call, cause := range map[string]string{
			tool("ready_items", `"plan":"tasks.md"`):            "a read broke",
			tool("acknowledge", `"instruction_id":"ins_1"`):     "a change broke",
			tool("init_run", `"plan":"tasks.md","item_id":"1"`): errGone.Error(),
		} {
			c.send(in("1", "tools/call", call))
			a := parse(t, c.nextAnswer())
			require.Equal(t, -32603, a.Error.Code, name)
			require.Equal(t, "INTERNAL", a.Error.Data.Code)
			require.NotEmpty(t, a.Error.Data.Incident)
			require.Contains(t, h.log.String(), a.Error.Data.Incident)
			require.Contains(t, h.log.String(), cause)
			require.NotContains(t, a.Error.Message, cause)
		}
		require.Equal(t, "3 error", c.ask(in("3", "tools/call", tool("get_task", `"task_id":"tsk_1"`)))[:7], "the change that broke has given its place up")
	}
}

// The answer to what the host has cancelled is dropped, in both eras; its handler ends, and its id is free.
func TestCancelledCallHasNoAnswer(t *testing.T) {
	s := newCallBarrier()
	_, c := connectRaw(t, s.holdReads())
	c.initialize()
	for _, in := range eras {
		c.send(in("1", "tools/call", tool("ready_items", `"plan":"tasks.md"`)), in("2", "tools/call", tool("ready_items", `"plan":"tasks.md"`)))
		<-s.running
		<-s.running
		c.send(note("notifications/cancelled", `"requestId":1,"reason":"changed my mind"`))
		c.send(note("notifications/cancelled", `"requestId":1`), note("notifications/cancelled", `"requestId":"2"`))
		c.send(note("notifications/cancelled", `"requestId":2`))
		c.cancelledIDIsFree(in, "1")
		c.cancelledIDIsFree(in, "2")
	}
	require.Empty(t, c.remaining())
}

// cancelledIDIsFree waits until a cancelled request has ended, which it does in its own time. Until then its id is taken.
func (c *rawClient) cancelledIDIsFree(in func(id, method, members string) string, id string) {
	c.t.Helper()
	for {
		next := c.ask(in(id, "tools/list", ""))
		if next == id+" result" || next == id+" complete" {
			return
		}
		require.Equal(c.t, id+" -32600 DUPLICATE_ID", next)
	}
}

// What was handed out with an answer that does not arrive is taken back: it was cancelled, the host is gone, or the
// conversation ended first.
func TestUndeliveredIsCalledForUnwrittenAnswers(t *testing.T) {
	for name, lose := range map[string]func(c *rawClient, answer func()){
		"cancelled": func(c *rawClient, answer func()) {
			c.send(note("notifications/cancelled", `"requestId":1`))
			require.Equal(c.t, `"next" complete`, c.ask(inModern(`"next"`, "tools/list", "")))
			answer()
			require.Empty(c.t, c.remaining())
		},
		"host is gone": func(c *rawClient, answer func()) {
			require.NoError(c.t, c.out.Close())
			answer()
			require.Zero(c.t, <-c.exit)
		},
		"too late": func(c *rawClient, answer func()) {
			require.Equal(c.t, []string{"1 5030 SHUTTING_DOWN"}, c.remaining())
			answer()
		},
	} {
		t.Run(name, func(t *testing.T) {
			running, taken := make(chan func(), 1), make(chan struct{})
			_, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{
				"dispatch_instructions": instead(func(_ context.Context, _ []byte, done func(api.Answer)) {
					running <- func() {
						done(api.Answer{
							Result:      &schema.DispatchResult{Instructions: []schema.Send{}, Failed: []schema.Instruction{}},
							Undelivered: func() { close(taken) },
						})
					}
				}),
			}})
			c.send(inModern("1", "tools/call", tool("dispatch_instructions", "")))
			lose(c, <-running)
			select {
			case <-taken:
			case <-time.After(patience):
				t.Fatal("it was not taken back")
			}
		})
	}
}

// An id that no request can have cancels none, however near it is to one.
func TestCancellationOfAnotherIDIsIgnored(t *testing.T) {
	s := newCallBarrier()
	_, c := connectRaw(t, s.holdReads())
	c.send(readyItems("1"))
	<-s.running
	c.send(note("notifications/cancelled", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`)
	for _, id := range []string{"1.5", `"1"`, "true", "{}", `"nobody"`} {
		c.send(note("notifications/cancelled", `"requestId":`+id))
	}
	require.Equal(t, "2 complete", c.ask(inModern("2", "tools/list", "")), "the cancellations were read")
	close(s.release)
	require.Equal(t, "1 complete", brief(t, c.nextAnswer()))
	require.Empty(t, c.remaining())
}
