package wire_test

import (
	"context"
	"math"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/wire"
)

// Numbers that no process can have do not end anything.
func TestParentWatchIgnoresInvalidIDs(t *testing.T) {
	for _, id := range []int64{0, -1, math.MinInt64, math.MaxInt64, 1<<32 + 1, math.MaxInt32 + 1, int64(os.Getpid())} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w := wire.NewParentWatch()
			w.WatchProcess(id)
			require.ErrorIs(t, w.Run(ctx), context.DeadlineExceeded)
		})
	}
}

// The host died before its first look, so its id is nobody's by the time it is named.
func TestParentWatchReturnsForADeadProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wire.NewParentWatch()
		gone := make(chan error, 1)
		go func() { gone <- w.Run(t.Context()) }() // ends when it finds out
		synctest.Wait()
		require.Empty(t, gone)
		start := time.Now()
		w.WatchProcess(math.MaxInt32) // no system gives this one to a process
		require.NoError(t, <-gone)
		require.Zero(t, time.Since(start), "it is looked at when it is named, not at the next second")
	})
}
