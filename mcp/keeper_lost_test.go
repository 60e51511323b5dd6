package mcp_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// The host has given up a call that then claims a task, and the store cannot take the claim back. Nobody works on the
// task, so nobody may keep its lease.
func TestFaultLeaseOfALostClaimIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats, givenBack atomic.Int64
		begun, answer := make(chan struct{}), make(chan struct{})
		table := api.NewTable([]api.Entry{{
			Method: schema.Method{Name: "claim_task", Kind: schema.Change},
			Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
				close(begun)
				<-answer
				claim := &schema.Claim{Task: schema.Task{TaskID: "tsk_1"}, Lease: schema.Lease{Token: "x"}}
				done(api.Answer{Result: &schema.ClaimTaskResult{Claim: claim}, Undelivered: func() { givenBack.Add(1) }})
			},
		}, {
			Method: schema.Method{Name: "heartbeat", Kind: schema.Change},
			Start: func(_ context.Context, _ []byte, done func(api.Answer)) {
				beats.Add(1)
				done(api.Answer{Result: &schema.HeartbeatResult{Applied: true}})
			},
		}})
		in, out, exit := piped(table)
		go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
		_, _ = fmt.Fprintln(in, inModern("1", "tools/call", tool("claim_task", "")))
		<-begun
		_, _ = fmt.Fprintln(in, note("notifications/cancelled", `"requestId":1`))
		synctest.Wait()
		close(answer)
		rest(10 * time.Minute)
		require.NoError(t, in.Close())
		require.Zero(t, <-exit)
		require.EqualValues(t, 1, givenBack.Load())
		require.Zero(t, beats.Load())
	})
}
