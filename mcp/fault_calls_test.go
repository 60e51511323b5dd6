package mcp_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// A stage is methods that run for as long as a test wants.
type stage struct {
	running chan string   // gets the params of each call that runs
	release chan struct{} // closed to let them end
}

func newStage() *stage {
	return &stage{running: make(chan string, 20_000), release: make(chan struct{})}
}

// held is a method that ends when it is released or its context ends.
func (s *stage) held(starter) starter {
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

// heldReads is a plot whose ready_items are held.
func (s *stage) heldReads() plot {
	return plot{methods: map[string]func(starter) starter{"ready_items": s.held}}
}

func readyItems(id string) string {
	return inModern(id, "tools/call", tool("ready_items", `"plan":"tasks.md"`))
}

func TestFaultUnknownMethodAndTool(t *testing.T) {
	_, c := wired(t, plot{})
	c.greet()
	for name, in := range eras {
		require.Equal(t, "1 -32601", c.ask(in("1", "no/such", "")), name)
		require.Equal(t, "2 -32602", c.ask(in("2", "tools/call", tool("no_such", ""))), name)
		require.Equal(t, "3 -32602", c.ask(in("3", "tools/call", `"name":7`)), name)
	}
	c.lives()
}

// eras says the same in both.
var eras = map[string]func(id, method, members string) string{"legacy": inLegacy, "modern": inModern}

// What a model can put right is told to the model, not to the host.
func TestFaultArgumentsOfWrongTypes(t *testing.T) {
	_, c := wired(t, plot{})
	c.greet()
	for name, in := range eras {
		for arguments, code := range map[string]string{
			`"plan":7`: "INVALID_PARAMS", `"plan":null`: "INVALID_PARAMS", `"plan":["tasks.md"]`: "INVALID_PARAMS",
			`"plan":"tasks.md","color":"red"`: "UNKNOWN_FIELD",
		} {
			require.Equal(t, "1 error "+code, c.ask(in("1", "tools/call", tool("ready_items", arguments))), "%s %s", name, arguments)
		}
		require.Equal(t, "2 error INVALID_PARAMS", c.ask(in("2", "tools/call", `"name":"ready_items","arguments":[]`)), name)
		require.Equal(t, "3 -32600", c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call"}`), "params are missing")
	}
	c.lives()
}

// Two requests of one id could not be told apart by their answers.
func TestFaultDuplicateIDInFlight(t *testing.T) {
	s := newStage()
	_, c := wired(t, s.heldReads())
	c.send(readyItems("1"))
	<-s.running
	for _, twin := range []string{readyItems("1"), inLegacy("1", "initialize", hello), inModern("1", "tools/list", "")} {
		require.Equal(t, "1 -32600 DUPLICATE_ID", c.ask(twin))
	}
	require.Equal(t, `"1" complete`, c.ask(inModern(`"1"`, "tools/list", "")), "a string is another id")
	close(s.release)
	require.Equal(t, "1 complete", brief(t, c.hear()))
	require.Equal(t, "1 complete", c.ask(inModern("1", "tools/list", "")), "the id is free again")
}

// A defect of a handler is one answer, and the process lives.
func TestFaultPanickingHandler(t *testing.T) {
	broken := plot{methods: map[string]func(starter) starter{
		"ready_items": func(starter) starter {
			return func(context.Context, []byte, func(api.Answer)) { panic("a read broke") }
		},
		"acknowledge": func(starter) starter {
			return func(context.Context, []byte, func(api.Answer)) { panic("a change broke") }
		},
	}}
	h, c := wired(t, broken)
	c.greet()
	for name, in := range eras {
		c.send(in("1", "tools/call", tool("ready_items", `"plan":"tasks.md"`)))
		a := parse(t, c.hear())
		require.Equal(t, -32603, a.Error.Code, name)
		require.Equal(t, "INTERNAL", a.Error.Data.Code)
		require.Contains(t, h.log.String(), a.Error.Data.Incident)
		require.NotContains(t, a.Error.Message, "a read broke")
		require.Equal(t, "2 -32603 INTERNAL", c.ask(in("2", "tools/call", tool("acknowledge", `"instruction_id":"ins_1"`))), name)
		require.Equal(t, "3 error", c.ask(in("3", "tools/call", tool("get_task", `"task_id":"tsk_1"`)))[:7], "the change that broke has given its place up")
	}
}

// The answer to what the host has cancelled is dropped, in both eras; its handler ends, and its id is free.
func TestFaultCancelled(t *testing.T) {
	s := newStage()
	_, c := wired(t, s.heldReads())
	c.greet()
	for _, in := range eras {
		c.send(in("1", "tools/call", tool("ready_items", `"plan":"tasks.md"`)), in("2", "tools/call", tool("ready_items", `"plan":"tasks.md"`)))
		<-s.running
		<-s.running
		c.send(note("notifications/cancelled", `"requestId":1,"reason":"changed my mind"`))
		c.send(note("notifications/cancelled", `"requestId":1`), note("notifications/cancelled", `"requestId":"2"`))
		c.send(note("notifications/cancelled", `"requestId":2`))
		c.freed(in, "1")
		c.freed(in, "2")
	}
	require.Empty(t, c.rest())
}

// freed waits until a cancelled request has ended, which it does in its own time. Until then its id is taken.
func (c *caller) freed(in func(id, method, members string) string, id string) {
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
func TestFaultUndelivered(t *testing.T) {
	for name, lose := range map[string]func(c *caller, answer func()){
		"cancelled": func(c *caller, answer func()) {
			c.send(note("notifications/cancelled", `"requestId":1`))
			require.Equal(c.t, `"next" complete`, c.ask(inModern(`"next"`, "tools/list", "")))
			answer()
			require.Empty(c.t, c.rest())
		},
		"host is gone": func(c *caller, answer func()) {
			require.NoError(c.t, c.out.Close())
			answer()
			require.Zero(c.t, <-c.exit)
		},
		"too late": func(c *caller, answer func()) {
			require.Equal(c.t, []string{"1 5030 SHUTTING_DOWN"}, c.rest())
			answer()
		},
	} {
		t.Run(name, func(t *testing.T) {
			running, taken := make(chan func(), 1), make(chan struct{})
			_, c := wired(t, plot{methods: map[string]func(starter) starter{
				"dispatch_instructions": func(starter) starter {
					return func(_ context.Context, _ []byte, done func(api.Answer)) {
						running <- func() {
							done(api.Answer{
								Result:      &schema.DispatchResult{Instructions: []schema.Send{}, Failed: []schema.Instruction{}},
								Undelivered: func() { close(taken) },
							})
						}
					}
				},
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
