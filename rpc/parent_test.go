package rpc_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/rpc"
)

// Numbers that are nobody's process do not end anything: they may be those of another machine.
func TestWatchParentIgnoresStrangers(t *testing.T) {
	for _, host := range []func() int64{
		nil,
		func() int64 { return 0 },
		func() int64 { return -1 },
		func() int64 { return math.MaxInt32 },
		func() int64 { return math.MaxInt64 },
		func() int64 { return 1<<32 + 1 },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.ErrorIs(t, rpc.WatchParent(ctx, host), context.DeadlineExceeded)
		})
	}
}
