package web_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/schema"
	"waybill/web"
)

// blocking says that a method runs, and holds it until it is released.
func blocking(start starter, running chan<- struct{}, release <-chan struct{}) starter {
	return func(ctx context.Context, params []byte, done func(api.Answer)) {
		running <- struct{}{}
		<-release
		start(ctx, params, done)
	}
}

// instead gives a method that does something else.
func instead(start starter) func(starter) starter { return func(starter) starter { return start } }

// optionsOf gives options with which nothing is wrong.
func optionsOf(t *testing.T) web.Options {
	t.Helper()
	service, err := api.New(api.Options{Start: func(workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
		return nil, nil, errors.New("no workspace is wanted")
	}})
	require.NoError(t, err)
	return web.Options{
		Listener: &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}, Table: service.Table(), Subscribe: service.Subscribe, Token: token,
	}
}

func TestOptionsThatAreMissingAreNamed(t *testing.T) {
	for name, take := range map[string]func(*web.Options){
		"Listener":  func(o *web.Options) { o.Listener = nil },
		"Table":     func(o *web.Options) { o.Table = nil },
		"Subscribe": func(o *web.Options) { o.Subscribe = nil },
		"Token":     func(o *web.Options) { o.Token = "" },
	} {
		o := optionsOf(t)
		take(&o)
		require.ErrorContains(t, web.Serve(t.Context(), o), "Options."+name)
	}
}

func TestTokensDiffer(t *testing.T) {
	require.Regexp(t, `^[0-9a-f]{64}$`, web.NewToken())
	require.NotEqual(t, web.NewToken(), web.NewToken())
}

// A listener that accepts no more ends the door, and says so.
func TestDoorThatCannotAcceptSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{})
		h.ask("GET", "/healthz", "").ok()
		_ = h.listener.Close()
		err := <-h.gone
		require.ErrorContains(t, err, "accept connections")
		h.gone <- nil // for the end of the test
	})
}

// A method panics: that is one answer, with a name under which the log has it.
func TestFaultR24_PanicIsOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{methods: map[string]func(starter) starter{
			"get_status": instead(func(context.Context, []byte, func(api.Answer)) { panic("it broke") }),
			"list_tasks": instead(func(_ context.Context, _ []byte, done func(api.Answer)) { done(api.Answer{Result: "\xff"}) }),
			"list_plans": instead(func(_ context.Context, _ []byte, done func(api.Answer)) {
				done(api.Answer{Err: schema.NewError(schema.Internal, "it failed"), Cause: errors.New("the disk said no")})
			}),
			"explain": instead(func(_ context.Context, _ []byte, done func(api.Answer)) {
				fault := schema.NewError(schema.StoreIO, "the disk \xff is gone")
				fault.Data.Outcome = schema.OutcomeUnknown
				done(api.Answer{Err: fault})
			}),
		}})
		for path, cause := range map[string]string{"/api/status": "it broke", "/api/tasks": "invalid UTF-8", "/api/plans": "the disk said no"} {
			o := h.ask("GET", path, "").refused(500, schema.Internal)
			incident := o.str("error.data.incident")
			require.Regexp(t, `^inc_[a-z2-7]{12}$`, incident)
			require.Contains(t, h.log.String(), incident)
			require.Contains(t, h.log.String(), cause)
		}
		o := h.ask("GET", "/api/explain", "").refused(503, schema.StoreIO)
		require.Equal(t, "unknown", o.str("error.data.outcome"))
		h.ask("GET", "/healthz", "").ok()
	})
}

// A store hangs: the caller is told that nobody knows, and can ask again.
func TestCallThatHangsIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{methods: map[string]func(starter) starter{
			"cancel_task": instead(func(context.Context, []byte, func(api.Answer)) {}),
			"get_task": instead(func(ctx context.Context, _ []byte, done func(api.Answer)) {
				<-ctx.Done()
				done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
			}),
		}})
		began := time.Now()
		o := h.ask("POST", "/api/tasks/tsk_1/cancel", "{}").refused(503, schema.StoreIO)
		require.Equal(t, "unknown", o.str("error.data.outcome"))
		require.Equal(t, 25*time.Second, time.Since(began))
		began = time.Now()
		h.ask("GET", "/api/tasks/tsk_1", "").refused(503, schema.Cancelled)
		require.Equal(t, 20*time.Second, time.Since(began))
	})
}

// A client that goes takes its call back, as long as nothing was applied.
func TestCallOfAClientThatLeftIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, cause := make(chan struct{}), make(chan error)
		h := build(t, plot{methods: map[string]func(starter) starter{
			"get_status": instead(func(ctx context.Context, _ []byte, done func(api.Answer)) {
				close(running)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				done(api.Answer{})
			}),
		}})
		conn := h.connect()
		_, err := conn.Write([]byte("GET /api/status HTTP/1.1\r\nHost: " + place + "\r\nAuthorization: Bearer " + token + "\r\n\r\n"))
		require.NoError(t, err)
		<-running
		_ = conn.Close()
		require.ErrorIs(t, <-cause, context.Canceled)
	})
}

// What is in hand when the process leaves is carried out and answered; what hangs is told to hurry.
func TestLeavingWaitsForWhatIsInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, release := make(chan struct{}), make(chan struct{})
		h := build(t, plot{methods: map[string]func(starter) starter{"get_status": func(start starter) starter {
			return blocking(start, running, release)
		}}})
		answers := make(chan answer, 1)
		go func() { answers <- h.ask("GET", "/api/status", "") }() // ends when it is released
		<-running
		h.leave()
		synctest.Wait()
		require.Empty(t, h.gone, "it left with a call in hand")
		close(release)
		(<-answers).ok()
		err := <-h.gone
		h.gone <- err
		require.NoError(t, err)
		_, err = h.dial(t.Context())
		require.Error(t, err)
	})
}

func TestLeavingDoesNotWaitForWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, hurried := make(chan struct{}), make(chan error, 1)
		release := make(chan struct{})
		h := build(t, plot{methods: map[string]func(starter) starter{"get_status": func(start starter) starter {
			return func(ctx context.Context, params []byte, done func(api.Answer)) {
				close(running)
				<-ctx.Done()
				hurried <- context.Cause(ctx)
				<-release
				start(ctx, params, done)
			}
		}}})
		conn := h.connect()
		_, err := conn.Write([]byte("GET /api/status HTTP/1.1\r\nHost: " + place + "\r\nAuthorization: Bearer " + token + "\r\n\r\n"))
		require.NoError(t, err)
		<-running
		began := time.Now()
		h.leave()
		err = <-h.gone
		h.gone <- err
		require.NoError(t, err)
		require.ErrorIs(t, <-hurried, api.ErrHurry)
		require.Equal(t, 600*time.Millisecond, time.Since(began))
		require.Contains(t, h.log.String(), "left behind")
		close(release)
		_ = conn.Close()
	})
}

// Requests on one connection are served one after the other; when the process leaves, an idle one ends at once.
func TestConnectionsAreKept(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := build(t, plot{listener: listener})
	dials := 0
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		dials++
		return h.dial(ctx)
	}}
	defer transport.CloseIdleConnections()
	for range 3 {
		res, err := (&http.Client{Transport: transport}).Get("http://" + h.at + "/healthz")
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode)
		_ = drain(res)
	}
	require.Equal(t, 1, dials)
}

func drain(res *http.Response) error {
	_, err := io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}
