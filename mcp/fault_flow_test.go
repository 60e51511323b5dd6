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
	c.initialize("{}")
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
