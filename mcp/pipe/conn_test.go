package pipe_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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
		var send func([]byte)
		served, sent := make(chan struct{}), make(chan struct{})
		o := pipe.Options{
			In: inR, Out: outW, Server: sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil),
			IsChange: func(string) bool { return false }, Busy: func() bool { return false },
			Background: func(context.Context) error { return nil }, Logger: slog.New(slog.DiscardHandler), Tally: new(wire.Tally),
			MaxMessageBytes: 1000, Supervision: &pipe.Supervision{Attach: func(f func([]byte)) { send = f }},
		}
		go func() { defer close(served); pipe.Serve(t.Context(), o) }() // ends with the input
		synctest.Wait()
		go func() { defer close(sent); send([]byte("state\n")) }() // ends at once
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
