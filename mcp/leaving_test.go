package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/mcp"
	"waybill/schema"
)

// At the end of the input everything that was read is carried out and answered.
func TestFaultEndOfInputWithCallsInFlight(t *testing.T) {
	const n = 50
	s := newStage()
	_, c := wired(t, s.heldReads())
	c.greet()
	for i := range n {
		c.send(inLegacy(fmt.Sprint(i), "tools/call", tool("ready_items", `"plan":"tasks.md"`)), readyItems(fmt.Sprintf(`"%d"`, i)))
	}
	for range 2 * n {
		<-s.running
	}
	require.NoError(t, c.in.Close())
	close(s.release)
	require.Len(t, c.rest(), 2*n)
}

// A shell pipes requests in and is gone: it gets all answers.
func TestFaultRequestsAndEndAtOnce(t *testing.T) {
	const n = 2000
	_, c := wired(t, plot{})
	sent := make(chan struct{})
	go func() { // ends when all is sent
		defer close(sent)
		for i := range n {
			_, _ = fmt.Fprintln(c.in, inModern(fmt.Sprint(i), "tools/call", tool("queue_instruction_with_ack", `"content":"x"`)))
		}
		_ = c.in.Close()
	}()
	for range n {
		require.Contains(t, brief(t, c.hear()), " complete")
	}
	<-sent
	require.Empty(t, c.rest())
}

// A signal is as the end of the input.
func TestFaultEndedFromOutside(t *testing.T) {
	s := newStage()
	_, c := wired(t, s.heldReads())
	c.send(readyItems("1"))
	<-s.running
	c.stop()
	close(s.release)
	require.Equal(t, "1 complete", brief(t, c.hear()))
	require.Empty(t, c.rest())
}

// A subscription would never end by itself: it ends with the conversation, by an answer.
func TestFaultEndOfInputWithSubscription(t *testing.T) {
	_, c := wired(t, plot{})
	c.send(inModern("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":["waybill://awaiting"]}`))
	require.Equal(t, "notifications/subscriptions/acknowledged", brief(t, c.hear()))
	require.Equal(t, []string{"1 complete"}, c.rest())
}

// What does not end is hurried, then answered in its place, and left behind in time.
func TestFaultEndOfInputWithStuckCalls(t *testing.T) {
	let := make(chan struct{})
	defer close(let)
	for name, row := range map[string]struct {
		method, call string
		stuck        starter
		want         string
	}{
		"a call that can be hurried": {
			"claim_task", tool("claim_task", ""),
			func(ctx context.Context, _ []byte, done func(api.Answer)) {
				go func() { // ends when it is hurried
					<-ctx.Done()
					if errors.Is(context.Cause(ctx), api.ErrHurry) {
						done(api.Answer{Result: &schema.ClaimTaskResult{}})
						return
					}
					done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
				}()
			},
			"1 complete",
		},
		"a change that hangs": {
			"acknowledge", tool("acknowledge", `"instruction_id":"ins_1"`),
			func(_ context.Context, _ []byte, done func(api.Answer)) {
				go func() { // ends with the test
					<-let
					done(api.Answer{Result: &schema.AcknowledgeResult{}})
				}()
			},
			"1 5030 SHUTTING_DOWN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := wired(t, plot{methods: map[string]func(starter) starter{row.method: func(starter) starter { return row.stuck }}})
			c.send(inModern("1", "tools/call", row.call), inModern("2", "tools/list", ""))
			require.Equal(t, "2 complete", brief(t, c.hear()))
			require.Equal(t, []string{row.want}, c.rest())
		})
	}
}

// piped serves over pipes in memory, in a bubble, where time costs nothing.
func piped(table *api.Table) (in, out net.Conn, exit chan int) {
	inR, in := net.Pipe()
	out, outW := net.Pipe()
	exit = make(chan int, 1)
	go func() { // ends when the server does
		code, err := mcp.Serve(context.Background(), mcp.Options{In: inR, Out: outW, Table: table})
		if err != nil {
			panic(err)
		}
		exit <- code
	}()
	return in, out, exit
}

// The way out takes no longer than 1.5 s after the last movement, and stays patient as long as there is some.
func TestWayOutIsBounded(t *testing.T) {
	for name, row := range map[string]struct {
		calls int
		each  time.Duration // between two answers
		want  time.Duration
	}{
		"nothing in hand":           {0, 0, 0},
		"a call that never ends":    {1, time.Hour, 1150 * time.Millisecond},
		"calls that end one by one": {5, 900 * time.Millisecond, 4500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				turn := make(chan struct{}, 1)
				table := api.NewTable([]api.Entry{{
					Method: schema.Method{Name: "acknowledge", Kind: schema.Change},
					Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
						go func() { // ends after the time that it takes
							turn <- struct{}{}
							time.Sleep(row.each)
							<-turn
							done(api.Answer{Result: &schema.AcknowledgeResult{}})
						}()
					},
				}})
				in, out, exit := piped(table)
				go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
				for i := range row.calls {
					_, err := fmt.Fprintln(in, inModern(fmt.Sprint(i), "tools/call", tool("acknowledge", `"instruction_id":"ins_1"`)))
					require.NoError(t, err)
				}
				synctest.Wait()
				start := time.Now()
				require.NoError(t, in.Close())
				require.Zero(t, <-exit)
				took := time.Since(start)
				require.GreaterOrEqual(t, took, row.want)
				require.LessOrEqual(t, took, row.want+350*time.Millisecond)
				time.Sleep(2 * time.Hour) // let those end that were left behind
			})
		})
	}
}

// A script pipes one change in and closes the pipe. A store that is being opened meanwhile counts as movement, for a
// while: the change is carried out on a slow disk, and a store that never opens does not keep the process.
func TestTheWayOutWaitsForAStoreThatIsBeingOpened(t *testing.T) {
	for _, row := range []struct {
		takes time.Duration // to open the store
		want  string
		limit time.Duration
	}{
		{2900 * time.Millisecond, "1 complete", 3 * time.Second},
		{time.Hour, "1 5030 SHUTTING_DOWN", 4600 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := build(t, plot{asleep: true, opens: row.takes})
			in, out, exit := piped(h.Table())
			start := time.Now()
			_, err := fmt.Fprintln(in, inModern("1", "tools/call", tool("queue_instruction_with_ack", `"content":"Go."`)))
			require.NoError(t, err)
			require.NoError(t, in.Close())
			answers, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Zero(t, <-exit)
			require.Equal(t, row.want, brief(t, string(answers)))
			require.Less(t, time.Since(start), row.limit)
		})
	}
}

// A host that reads nothing for 5 s is gone, also if it writes all the time.
func TestFaultHostReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := api.NewTable(nil)
		in, out, exit := piped(table)
		start := time.Now()
		_, err := fmt.Fprintln(in, inModern("1", "tools/list", ""))
		require.NoError(t, err)
		require.Zero(t, <-exit)
		require.InDelta(t, 5.1, time.Since(start).Seconds(), 0.2)
		require.NoError(t, in.Close())
		require.NoError(t, out.Close())
	})
}

// The same over real pipes, one of which is full.
func TestFaultHostReadsNothingFromARealPipe(t *testing.T) {
	t.Parallel()
	_, c := wired(t, plot{})
	flooded := make(chan struct{})
	go func() { // ends when nobody reads any more
		defer close(flooded)
		for {
			if _, err := fmt.Fprintln(c.in, inModern("1", "tools/list", "")); err != nil {
				return
			}
		}
	}()
	require.Zero(t, <-c.exit)
	<-flooded
	c.exit <- 0 // for who asks later
}

// A host that closes its end is noticed with the next answer.
func TestFaultHostClosesItsEnd(t *testing.T) {
	_, c := wired(t, plot{})
	require.NoError(t, c.out.Close())
	c.send(inModern("1", "tools/list", ""))
	require.Zero(t, <-c.exit)
}
