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
func TestEndOfInputFinishesCallsInFlight(t *testing.T) {
	const n = 50
	s := newCallBarrier()
	_, c := connectRaw(t, s.holdReads())
	c.initialize()
	for i := range n {
		c.send(inLegacy(fmt.Sprint(i), "tools/call", tool("ready_items", `"plan":"tasks.md"`)), readyItems(fmt.Sprintf(`"%d"`, i)))
	}
	for range 2 * n {
		<-s.running
	}
	require.NoError(t, c.in.Close())
	close(s.release)
	require.Len(t, c.remaining(), 2*n)
}

// A signal is as the end of the input.
func TestServeEndsWithItsContext(t *testing.T) {
	s := newCallBarrier()
	_, c := connectRaw(t, s.holdReads())
	c.send(readyItems("1"))
	<-s.running
	c.stop()
	close(s.release)
	require.Equal(t, "1 complete", brief(t, c.nextAnswer()))
	require.Empty(t, c.remaining())
}

// A hanging request is hurried, then answered with SHUTTING_DOWN, and abandoned in time.
func TestEndOfInputAnswersHangingCalls(t *testing.T) {
	let := make(chan struct{})
	defer close(let)
	for name, row := range map[string]struct {
		method, call string
		stuck        startFunc
		want         string
	}{
		"a call that can be hurried": {
			"claim_task", tool("claim_task", ""),
			func(ctx context.Context, _ []byte, done func(api.Answer)) {
				go func() { // ends when the request is hurried
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
			_, c := connectRaw(t, setup{methods: map[string]func(startFunc) startFunc{row.method: instead(row.stuck)}})
			c.send(inModern("1", "tools/call", row.call), inModern("2", "tools/list", ""))
			require.Equal(t, "2 complete", brief(t, c.nextAnswer()))
			require.Equal(t, []string{row.want}, c.remaining())
		})
	}
}

// servePipe serves over pipes in memory, in a bubble, where time costs nothing.
func servePipe(table *api.Table) (in, out net.Conn, exit chan int) {
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
func TestShutdownTimeIsLimited(t *testing.T) {
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
				in, out, exit := servePipe(table)
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
func TestShutdownWaitsForABusyStore(t *testing.T) {
	for _, row := range []struct {
		takes time.Duration // to open the store
		want  string
		limit time.Duration
	}{
		{2900 * time.Millisecond, "1 complete", 3 * time.Second},
		{time.Hour, "1 5030 SHUTTING_DOWN", 4600 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t, setup{asleep: true, opens: row.takes})
			in, out, exit := servePipe(h.Table())
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

// A host that reads nothing for 5 s is gone, also if it writes all the time. What is refused meanwhile takes limited memory.
func TestHostThatReadsNothingCountsAsGone(t *testing.T) {
	for _, line := range []string{inModern("1", "tools/list", ""), "garbage"} {
		synctest.Test(t, func(t *testing.T) {
			in, out, exit := servePipe(api.NewTable(nil))
			start, taken := time.Now(), 0
			flooded := make(chan struct{})
			go func() { // ends with the server
				defer close(flooded)
				for taken = 0; ; taken++ {
					if _, err := fmt.Fprintln(in, line); err != nil {
						return
					}
				}
			}()
			require.Zero(t, <-exit)
			require.InDelta(t, 5.1, time.Since(start).Seconds(), 0.2)
			<-flooded
			require.Less(t, taken, 120_000)
			require.NoError(t, out.Close())
		})
	}
}

// A host that closes its end is noticed with the next answer.
func TestServeEndsWhenTheHostClosesTheOutput(t *testing.T) {
	_, c := connectRaw(t, setup{})
	require.NoError(t, c.out.Close())
	c.send(inModern("1", "tools/list", ""))
	require.Zero(t, <-c.exit)
}
