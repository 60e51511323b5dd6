package rpc_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/rpc"
	"waybill/schema"
	"waybill/store"
	"waybill/test/teststore"
)

// What is never answered by its method is answered in its place, with what is known of it, and the
// process ends in time whether it was asked to go by the end of the input, a signal or exit.
func TestHangingCallsAreAnsweredAtTheEnd(t *testing.T) {
	for name, leave := range map[string]func(h *host){
		"end of the input": func(h *host) { require.NoError(t, h.in.Close()) },
		"signal":           func(h *host) { h.cancel() },
		"exit":             func(h *host) { h.sendRaw(notification("exit", "") + "\n") },
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { endWithHangingCall(t, leave) }) })
	}
}

func endWithHangingCall(t *testing.T, leave func(h *host)) {
	free := make(chan struct{})
	back := 0
	var late func()
	hang := func(_ context.Context, _ []byte, done func(api.Answer)) {
		<-free
		done(api.Answer{})
	}
	h := connect(t, newFixture(), table(
		entry("lose", schema.Change, func(_ context.Context, _ []byte, done func(api.Answer)) {
			late = func() { done(api.Answer{Undelivered: func() { back++ }}) }
		}),
		entry("look", schema.Read, hang), entry("stick", schema.Change, hang)))
	h.send(request(1, "lose", ""), request(2, "look", ""), request(3, "stick", ""), request(4, "lose", ""))
	start := time.Now()
	leave(h)
	<-h.exit
	require.LessOrEqual(t, time.Since(start), 1500*time.Millisecond)
	outcomes := map[string]string{}
	for _, answer := range h.received() {
		r := parse(t, answer)
		require.Equal(t, "SHUTTING_DOWN", r.Error.Data.Code)
		outcomes[string(r.ID)] = r.Error.Data.Outcome
	}
	require.Equal(t, map[string]string{"1": "unknown", "2": "not_applied", "3": "unknown", "4": "not_applied"}, outcomes)
	late()
	require.Equal(t, 1, back, "an answer that comes after that was not delivered")
	close(free)
	synctest.Wait()
	require.NotContains(t, h.log.text(), "answered twice")
}

// An input that nothing interrupts does not keep Serve.
func TestServeEndsAlthoughItsReadIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &blockedInput{free: make(chan struct{})}
		h := connect(t, newFixture(), func(o *rpc.Options) { o.In = in })
		synctest.Wait()
		start := time.Now()
		h.cancel()
		require.Zero(t, <-h.exit)
		require.Less(t, time.Since(start), time.Second)
		close(in.free)
	})
}

// A blockedInput is an input whose Read does not mind Close.
type blockedInput struct{ free chan struct{} }

func (s *blockedInput) Read([]byte) (int, error) {
	<-s.free
	return 0, io.EOF
}

func (*blockedInput) Close() error { return nil }

// An input that cannot be read any more is at its end.
func TestServeEndsWhenInputFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := connect(t, newFixture(), func(o *rpc.Options) {
			o.In = io.NopCloser(io.MultiReader(
				iotest.OneByteReader(strings.NewReader(request(1, "ping", "")+"\n"+request(2, "pi", ""))),
				iotest.ErrReader(errors.New("the cable is out"))))
		})
		require.Zero(t, <-h.exit)
		require.Equal(t, []string{`1 {"pong":true}`}, briefs(t, h.received()))
		require.Contains(t, h.log.text(), "the cable is out")
	})
}

// A script pipes one change in and closes the pipe. Under load, and on slow disks, to open the store took longer than
// the way out, and the change was refused. A store that never opens does not keep the process.
func TestServeWaitsForAStoreThatIsBeingOpened(t *testing.T) {
	for _, row := range []struct {
		takes, limit time.Duration
		want         string
	}{
		{2900 * time.Millisecond, 5 * time.Second, `1 {"instruction":{`},
		{time.Hour, 4600 * time.Millisecond, "1 5030 SHUTTING_DOWN"},
	} {
		synctest.Test(t, func(t *testing.T) {
			records, ended := teststore.New(t), make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			service, err := api.New(api.Options{
				Version: "test", Sources: workspace.Sources{Flag: t.TempDir()},
				Start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
					e, err := engine.New(engine.Options{Open: func(context.Context) (store.Store, error) {
						time.Sleep(row.takes)
						return records, nil
					}})
					go func() { ended <- e.Run(ctx) }() // ends with ctx
					return e, nil, err
				},
			})
			require.NoError(t, err)
			start := time.Now()
			h := connect(t, newFixture(), func(o *rpc.Options) { o.Table = service.Table() })
			h.send(request(1, "queue_instruction", `{"content":"Go."}`))
			require.Zero(t, h.end())
			require.Less(t, time.Since(start), row.limit)
			answers := briefs(t, h.received())
			require.Len(t, answers, 1)
			require.True(t, strings.HasPrefix(answers[0], row.want), answers[0])
			cancel()
			require.NoError(t, <-ended)
		})
	}
}
