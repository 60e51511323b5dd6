package mcp_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

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
				p := servePipe(table)
				go func() { _, _ = io.Copy(io.Discard, p.out) }() // ends with the server
				for i := range row.calls {
					_, err := fmt.Fprintln(p.in, inModern(fmt.Sprint(i), "tools/call", tool("acknowledge", `"instruction_id":"ins_1"`)))
					require.NoError(t, err)
				}
				synctest.Wait()
				start := time.Now()
				require.NoError(t, p.in.Close())
				require.Zero(t, <-p.exit)
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
			p := servePipe(h.Table())
			start := time.Now()
			_, err := fmt.Fprintln(p.in, inModern("1", "tools/call", tool("queue_instruction_with_ack", `"content":"Go."`)))
			require.NoError(t, err)
			require.NoError(t, p.in.Close())
			answers, err := io.ReadAll(p.out)
			require.NoError(t, err)
			require.Zero(t, <-p.exit)
			require.Equal(t, row.want, brief(t, string(answers)))
			require.Less(t, time.Since(start), row.limit)
		})
	}
}

// A host that reads nothing for 5 s is gone, also if it writes all the time. What is refused meanwhile takes limited memory.
func TestHostThatReadsNothingCountsAsGone(t *testing.T) {
	for _, line := range []string{inModern("1", "tools/list", ""), "garbage"} {
		synctest.Test(t, func(t *testing.T) {
			p := servePipe(api.NewTable(nil))
			start, taken := time.Now(), 0
			flooded := make(chan struct{})
			go func() { // ends with the server
				defer close(flooded)
				for taken = 0; ; taken++ {
					if _, err := fmt.Fprintln(p.in, line); err != nil {
						return
					}
				}
			}()
			require.Zero(t, <-p.exit)
			require.InDelta(t, 5.1, time.Since(start).Seconds(), 0.2)
			<-flooded
			require.Less(t, taken, 120_000)
			require.NoError(t, p.out.Close())
		})
	}
}
