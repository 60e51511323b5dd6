package pipe_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/mcp/pipe"
	"waybill/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The caller holds a mutex. If it wrote the line itself, it would also complete the lines of others, whose callbacks need
// the same mutex.
func TestSenderOfTheStateDoesNotWaitForTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inR, in := net.Pipe()
		out, outW := net.Pipe()
		var conn *pipe.Conn
		served, sent := make(chan struct{}), make(chan struct{})
		o := pipe.Options{
			In: inR, Out: outW, Attach: func(c *pipe.Conn) { conn = c }, Busy: func() bool { return false },
			Background: func(context.Context) {}, Logger: slog.New(slog.DiscardHandler), Tally: new(wire.Tally),
			MaxMessageBytes: 1000,
		}
		go func() { defer close(served); pipe.Serve(t.Context(), o) }() // ends with the input
		synctest.Wait()
		go func() { defer close(sent); conn.Notify("state", nil) }() // ends at once
		synctest.Wait()
		select {
		case <-sent:
		default:
			t.Error("the state waits for the host")
		}
		require.NoError(t, in.Close())
		require.NoError(t, out.Close())
		<-served
		<-sent
	})
}
