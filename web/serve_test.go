package web_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/web"
)

// methods are those that a harness has instead of those of the table.
type methods map[string]func(start startFunc) startFunc

// blockingMethod replaces a method by one that signals its start and waits for release.
func blockingMethod(running chan<- struct{}, release <-chan struct{}) func(startFunc) startFunc {
	return func(start startFunc) startFunc {
		return func(ctx context.Context, params []byte, done func(api.Answer)) {
			running <- struct{}{}
			<-release
			start(ctx, params, done)
		}
	}
}

// replaceMethod returns a replacement for a method.
func replaceMethod(start startFunc) func(startFunc) startFunc {
	return func(startFunc) startFunc { return start }
}

// optionsOf returns valid options.
func optionsOf() web.Options {
	return web.Options{
		Listener: &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}, Table: api.NewTable(nil), Token: testToken,
		Subscribe: func() (<-chan struct{}, func(), error) { return nil, nil, context.Canceled },
	}
}

func TestMissingOptionsAreNamed(t *testing.T) {
	for name, take := range map[string]func(*web.Options){
		"Listener":  func(o *web.Options) { o.Listener = nil },
		"Table":     func(o *web.Options) { o.Table = nil },
		"Subscribe": func(o *web.Options) { o.Subscribe = nil },
		"Token":     func(o *web.Options) { o.Token = "" },
	} {
		o := optionsOf()
		take(&o)
		require.ErrorContains(t, web.Serve(t.Context(), o), "Options."+name)
	}
}

// Serve returns when the listener fails.
func TestServeReturnsTheErrorOfItsListener(t *testing.T) {
	serve(t, func(t *testing.T, h *harness) {
		h.ask("GET", "/healthz", "").requireOK()
		_ = h.listener.Close()
		err := <-h.ended
		require.ErrorContains(t, err, "accept connections")
		h.ended <- nil // for the end of the test
	})
}

// A method panics: that is one answer, with a name under which the log has it.
func TestPanicIsOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{methods: methods{
			"get_status": replaceMethod(func(context.Context, []byte, func(api.Answer)) { panic("it broke") }),
			"list_tasks": replaceMethod(func(_ context.Context, _ []byte, done func(api.Answer)) { done(api.Answer{Result: "\xff"}) }),
			"list_plans": replaceMethod(func(_ context.Context, _ []byte, done func(api.Answer)) {
				done(api.Answer{Err: schema.NewError(schema.Internal, "it failed"), Cause: errors.New("the disk said no")})
			}),
			"explain": replaceMethod(func(_ context.Context, _ []byte, done func(api.Answer)) {
				fault := schema.NewError(schema.StoreIO, "the disk \xff is gone")
				fault.Data.Outcome = schema.OutcomeUnknown
				done(api.Answer{Err: fault})
			}),
		}})
		for path, cause := range map[string]string{"/api/status": "it broke", "/api/tasks": "invalid UTF-8", "/api/plans": "the disk said no"} {
			o := h.ask("GET", path, "").requireError(500, schema.Internal)
			incident := o.str("error.data.incident")
			require.Regexp(t, `^inc_[a-z2-7]{12}$`, incident)
			require.Contains(t, h.log.String(), incident)
			require.Contains(t, h.log.String(), cause)
		}
		o := h.ask("GET", "/api/explain", "").requireError(503, schema.StoreIO)
		require.Equal(t, "unknown", o.str("error.data.outcome"))
		h.ask("GET", "/healthz", "").requireOK()
	})
}

// When the store hangs, the error has an unknown outcome, and the caller can repeat the call.
func TestHangingCallIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{methods: methods{
			"cancel_task": replaceMethod(func(context.Context, []byte, func(api.Answer)) {}),
			"get_task": replaceMethod(func(ctx ctx, _ []byte, done func(api.Answer)) {
				<-ctx.Done()
				done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
			}),
		}})
		began := time.Now()
		o := h.ask("POST", "/api/tasks/tsk_1/cancel", "{}").requireError(503, schema.StoreIO)
		require.Equal(t, "unknown", o.str("error.data.outcome"))
		require.Equal(t, 25*time.Second, time.Since(began))
		began = time.Now()
		h.ask("GET", "/api/tasks/tsk_1", "").requireError(503, schema.Cancelled)
		require.Equal(t, 20*time.Second, time.Since(began))
	})
}

// A call is cancelled when its client leaves, unless it has taken effect.
func TestCallIsCancelledWhenItsClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, cause := make(chan struct{}), make(chan error)
		h := newHarness(t, setup{methods: methods{
			"get_status": replaceMethod(func(ctx ctx, _ []byte, done func(api.Answer)) {
				close(running)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				done(api.Answer{})
			}),
		}})
		conn := h.connect()
		_, err := conn.Write([]byte("GET /api/status HTTP/1.1\r\nHost: " + testAddress + "\r\nAuthorization: Bearer " + testToken + "\r\n\r\n"))
		require.NoError(t, err)
		<-running
		_ = conn.Close()
		require.ErrorIs(t, <-cause, context.Canceled)
	})
}

// During shutdown calls in flight are finished and answered; hanging ones are hurried.
func TestShutdownFinishesCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, release := make(chan struct{}), make(chan struct{})
		h := newHarness(t, setup{methods: methods{"get_status": blockingMethod(running, release)}})
		answers := make(chan answer, 1)
		go func() { answers <- h.ask("GET", "/api/status", "") }() // ends when it is released
		<-running
		h.shutDown()
		synctest.Wait()
		require.Empty(t, h.ended, "it ended with a call in flight")
		close(release)
		(<-answers).requireOK()
		err := <-h.ended
		h.ended <- err
		require.NoError(t, err)
		_, err = h.dial(t.Context())
		require.Error(t, err)
	})
}

func TestShutdownDoesNotWaitForHangingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, hurried := make(chan struct{}), make(chan error, 1)
		release := make(chan struct{})
		h := newHarness(t, setup{methods: methods{"get_status": func(start startFunc) startFunc {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				close(running)
				<-ctx.Done()
				hurried <- context.Cause(ctx)
				<-release
				start(ctx, params, done)
			}
		}}})
		conn := h.connect()
		_, err := conn.Write([]byte("GET /api/status HTTP/1.1\r\nHost: " + testAddress + "\r\nAuthorization: Bearer " + testToken + "\r\n\r\n"))
		require.NoError(t, err)
		<-running
		began := time.Now()
		h.shutDown()
		err = <-h.ended
		h.ended <- err
		require.NoError(t, err)
		require.ErrorIs(t, <-hurried, api.ErrHurry)
		require.Equal(t, 600*time.Millisecond, time.Since(began))
		require.Contains(t, h.log.String(), "was abandoned")
		close(release)
		_ = conn.Close()
	})
}
