package mcp_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// A script pipes one change in and closes the pipe. A store that is being opened meanwhile has a
// while: the change is carried out on a slow disk, and a store that never opens does not keep the process.
func TestShutdownWaitsForABusyStore(t *testing.T) {
	for _, row := range []struct {
		takes time.Duration // to open the store
		want  string
		limit time.Duration
	}{
		{2900 * time.Millisecond, "1 complete", 3 * time.Second},
		{time.Hour, "1 5030 SHUTTING_DOWN", 3500 * time.Millisecond},
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

// Changes take effect in the order of their lines, however long each takes, and whatever era each is in.
func TestChangesTakeEffectInTheOrderOfTheirLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		go func() { // ends when all is sent
			for i := range n {
				in := inLegacy
				if i%3 == 0 {
					in = inModern
				}
				call := tool("queue_instruction_with_ack", fmt.Sprintf(`"content":"%d"`, i))
				if i%2 == 0 {
					call = tool("create_task", fmt.Sprintf(`"prompt":"%d"`, i))
				}
				c.send(in(fmt.Sprint(i), "tools/call", call), in(fmt.Sprintf(`"read %d"`, i), "tools/call", tool("ready_items", `"plan":"tasks.md"`)))
			}
		}()
		for range 2 * n {
			require.Regexp(t, `^("read )?\d+"? (result|complete)$`, brief(t, c.nextAnswer()))
		}
		require.Empty(t, c.remaining())
		require.Len(t, order, n)
		for i, params := range order {
			require.Contains(t, params, fmt.Sprintf(`"%d"`, i))
		}
	})
}

func readyItems(id string) string {
	return inModern(id, "tools/call", tool("ready_items", `"plan":"tasks.md"`))
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
			synctest.Test(t, func(t *testing.T) {
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
				<-taken
			})
		})
	}
}
