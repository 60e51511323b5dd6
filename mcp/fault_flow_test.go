package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/test/slow"
)

// Changes take effect in the order of their lines, however long each takes, and whatever era each is in.
func TestChangesTakeEffectInTheOrderOfTheirLines(t *testing.T) {
	const n = 300
	var mu sync.Mutex // guards order
	var order []string
	begun := func(start startFunc) startFunc {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			mu.Lock()
			order = append(order, string(params))
			mu.Unlock()
			start(ctx, params, done)
		}
	}
	_, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{"queue_instruction_with_ack": begun, "create_task": begun}})
	c.initialize()
	sent := make(chan struct{})
	go func() { // ends when all is sent
		defer close(sent)
		for i := range n {
			in := inLegacy
			if i%3 == 0 {
				in = inModern
			}
			call := tool("queue_instruction_with_ack", fmt.Sprintf(`"content":"%d"`, i))
			if i%2 == 0 {
				call = tool("create_task", fmt.Sprintf(`"prompt":"%d"`, i))
			}
			_, _ = fmt.Fprintln(c.in, in(fmt.Sprint(i), "tools/call", call))
			_, _ = fmt.Fprintln(c.in, in(fmt.Sprintf(`"read %d"`, i), "tools/call", tool("ready_items", `"plan":"tasks.md"`)))
		}
	}()
	for range 2 * n {
		require.Regexp(t, `^("read )?\d+"? (result|complete)$`, brief(t, c.nextAnswer()))
	}
	<-sent
	require.Empty(t, c.remaining())
	require.Len(t, order, n)
	for i, params := range order {
		require.Contains(t, params, fmt.Sprintf(`"%d"`, i))
	}
}

// A call that waits for something has its place, and does not hold up what comes after it.
func TestLongChangeDoesNotBlockReads(t *testing.T) {
	s := newCallBarrier()
	_, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{"claim_task": s.hold}})
	c.send(inModern("1", "tools/call", tool("claim_task", "")))
	<-s.running
	require.Equal(t, "2 complete", c.ask(inModern("2", "tools/call", tool("create_task", `"prompt":"x"`))))
	c.send(note("notifications/cancelled", `"requestId":1`))
	require.Empty(t, c.remaining())
}

// The requests in flight are limited, and a cancellation still gets through.
func TestRequestsInFlightAreLimited(t *testing.T) {
	slow.Test(t)
	const limit, more = 1024, 50
	s := newCallBarrier()
	_, c := connectRaw(t, s.holdReads())
	for i := range limit {
		c.send(readyItems(fmt.Sprint(i)))
	}
	for range limit {
		<-s.running
	}
	for i := range more {
		c.send(readyItems(fmt.Sprint(limit + i)))
	}
	for i := range more { // once nothing has moved for a while
		require.Equal(t, fmt.Sprintf("%d 4290 OVERLOADED", limit+i), brief(t, c.nextAnswer()))
	}
	require.Empty(t, s.running)
	c.send(note("notifications/cancelled", `"requestId":7`))
	// There is room again when the handler of the cancelled call has ended; until then, nothing has moved.
	next := `"next" 4290 OVERLOADED`
	for end := time.Now().Add(time.Minute); next == `"next" 4290 OVERLOADED` && time.Now().Before(end); {
		next = c.ask(inModern(`"next"`, "tools/list", ""))
	}
	require.Equal(t, `"next" complete`, next)
	close(s.release)
	require.Len(t, c.remaining(), limit-1)
}

// Answers that are too long for the pipe wait for the host, and all arrive.
func TestSlowHostGetsEveryAnswer(t *testing.T) {
	const n = 200
	long := &schema.ReadyItems{Ready: []string{strings.Repeat("x", 4000)}, Waiting: []schema.WaitingItem{}}
	_, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{"ready_items": func(startFunc) startFunc {
		return func(_ context.Context, _ []byte, done func(api.Answer)) { done(api.Answer{Result: long}) }
	}}})
	sent := make(chan struct{})
	go func() { // ends when all is sent: the pipes hold less than that
		defer close(sent)
		for i := range n {
			_, _ = fmt.Fprintln(c.in, readyItems(fmt.Sprint(i)))
		}
	}()
	<-sent
	got := c.remaining()
	require.Len(t, got, n)
	for _, b := range got {
		require.Contains(t, b, "complete")
	}
}

// A change that is refused at once, or cancelled while it waits, does not let those behind it overtake those before it.
func TestRefusedChangeDoesNotBreakTheOrder(t *testing.T) {
	for name, idle := range map[string]func(c *rawClient){
		"refused": func(c *rawClient) {
			require.Equal(c.t, "2 error UNKNOWN_FIELD", c.ask(inModern("2", "tools/call", tool("create_task", `"color":"red"`))))
		},
		"cancelled": func(c *rawClient) {
			c.send(inModern("2", "tools/call", tool("create_task", `"prompt":"two"`)), note("notifications/cancelled", `"requestId":2`))
			c.cancelledIDIsFree(inModern, "2")
		},
		"unknown": func(c *rawClient) {
			require.Equal(c.t, "2 -32602", c.ask(inModern("2", "tools/call", tool("cancel_task", `"task_id":"tsk_1"`))), "it is a method and no tool")
		},
	} {
		t.Run(name, func(t *testing.T) {
			began, release := make(chan string, 10), make(chan struct{})
			slow := func(start startFunc) startFunc {
				return func(ctx context.Context, params []byte, done func(api.Answer)) {
					began <- string(params)
					<-release
					start(ctx, params, done)
				}
			}
			_, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{"create_task": slow, "queue_instruction_with_ack": slow}})
			c.send(inModern("1", "tools/call", tool("create_task", `"prompt":"one"`)))
			require.Contains(t, <-began, "one")
			idle(c)
			c.send(inModern("3", "tools/call", tool("queue_instruction_with_ack", `"content":"three"`)))
			for range 20 {
				c.requireAlive() // it would have begun by then
			}
			require.Empty(t, began)
			close(release)
			require.Contains(t, <-began, "three")
			require.ElementsMatch(t, []string{"1 complete", "3 complete"}, c.remaining())
		})
	}
}
