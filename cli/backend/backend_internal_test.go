package backend

// These tests are inside because a watcher that does not come up needs a disk that hangs.

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A watcher that did not come up held every status for ever, also one that nobody waited for any more.
func TestStatusDoesNotHangWithTheWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{Version: "dev", Follow: true, Tidies: true, Logger: slog.New(slog.DiscardHandler)})
		defer b.Stop()
		b.newWatcher("") // nobody runs it
		began := time.Now()
		st := b.Status(t.Context())
		require.Equal(t, ConnectPeriod, time.Since(began))
		require.Equal(t, "off", st.Mode)
		require.Contains(t, st.Reason, "has not come up")

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		b.Status(ctx)
		require.Zero(t, time.Since(began))
	})
}
