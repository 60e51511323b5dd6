// Package web serves the methods of a table over HTTP on a loopback address, and the event log as a stream.
//
// It never listens where other machines can connect, opens no store, sets no cookie and allows no other origin. It does
// not know what a method means. Every request needs the token, or that of a signed-in browser. Exceptions are a few
// paths that reveal nothing, and the files of the page, which are the same for every client.
//
// # Authentication
//
// A web page can make a browser send requests to this machine, and other users of the machine can connect to it. So
// every request is checked in this order: its Host; the path and the verb; the type and the size of its body; the
// origin of the page that sent it; the token. The body is read only after all checks, and nothing that a browser adds
// by itself counts as a token.
//
// # Limits
//
// At most 64 connections with a token are open, and 64 others, so that clients without a token cannot displace those
// with one. A new connection replaces the oldest one without a token. When it shows a token at the limit, it replaces
// the connection with a token that has waited longest for its client. A head may take 5 s and 16 KiB, a body 30 s and
// 128 KiB. A client that reads nothing of an answer for 10 s is disconnected.
//
// # Streams
//
// One reader of the event log keeps the last events for all streams, which have no queues. A stream from an older
// cursor reads the log itself until it has caught up. One that falls behind again ends with an error and a cursor, from
// which the client can continue.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"waybill/api"
)

//go:generate go generate ./page

const (
	headTimeout = 5 * time.Second
	bodyTimeout = 30 * time.Second
	idleTimeout = time.Minute
	// shutdownTime limits calls in flight during shutdown, first before and then after they are hurried.
	shutdownTime = 300 * time.Millisecond
	maxHeadBytes = 16 << 10
)

// Options configures Serve. Listener, Table, Subscribe and Token are required.
type Options struct {
	// Listener comes from Address.Listen. Serve closes it.
	Listener net.Listener
	// Table holds the methods.
	Table *api.Table
	// Subscribe returns a channel of size 1 that is signalled when there may be more events, until stop is called.
	Subscribe func() (wake <-chan struct{}, stop func(), err error)
	// Token is the token that requests must have, from NewToken.
	Token string
	// Counts returns further counters for the metrics, if not nil.
	Counts func(ctx context.Context) Counts
	// Workspaces reaches the inbox and the other workspaces of the person. Without it both are unknown paths.
	Workspaces Workspaces
	// Page has the files for a browser. Without it there is no page.
	Page []File
	// Logger receives events that no answer can report. The default discards them.
	Logger *slog.Logger
}

// Serve answers requests until ctx ends. Then it ends the streams, finishes the calls in flight, and returns within a
// second. An error means that the options are wrong or that the listener has failed.
func Serve(ctx context.Context, o Options) error {
	callCtx, cancelCalls := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelCalls(nil)
	s, err := newServer(ctx, callCtx, o)
	if err != nil {
		return err
	}
	h := s.http(callCtx)
	var broken error
	ended := make(chan struct{})
	go func() { // ends when h is shut down
		defer close(ended)
		broken = h.Serve(s.conns)
	}()
	select {
	case <-ended:
		s.shutDown(callCtx, h, cancelCalls)
		return fmt.Errorf("accept connections: %w", broken)
	case <-ctx.Done():
		s.shutDown(callCtx, h, cancelCalls)
		<-ended
		return nil
	}
}

// newServer returns a server whose streams end with ctx, and whose calls end with callCtx.
func newServer(ctx, callCtx context.Context, o Options) (*server, error) {
	switch {
	case o.Listener == nil:
		return nil, errors.New("web: Options.Listener is missing")
	case o.Table == nil:
		return nil, errors.New("web: Options.Table is missing")
	case o.Subscribe == nil:
		return nil, errors.New("web: Options.Subscribe is missing")
	case o.Token == "":
		return nil, errors.New("web: Options.Token is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	hosts, err := hostsOf(o.Listener.Addr())
	if err != nil {
		return nil, err
	}
	page, err := fileRoutes(o.Page, routes)
	if err != nil {
		return nil, err
	}
	s := &server{
		log: o.Logger, auth: newAuth(o.Token), conns: newConnLimiter(o.Listener), calls: caller{o.Table, o.Logger},
		routes: routes, page: page, hosts: hosts, shutdown: ctx.Done(), workspaces: o.Workspaces,
	}
	s.streams = &streams{ctx: callCtx, calls: s.calls, subscribe: o.Subscribe, readers: &s.inFlight}
	s.metrics = &metrics{calls: s.calls, counts: o.Counts, conns: s.conns, streams: s.streams}
	s.readiness = &readiness{ctx: callCtx, calls: s.calls, checking: make(chan struct{}, 1)}
	return s, nil
}

// http returns the server of net/http, for HTTP/1.1 only.
func (s *server) http(callCtx context.Context) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		ReadHeaderTimeout: headTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      bodyTimeout + callTimeout + lateAnswerTime + writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeadBytes - librarySlack,
		ConnState:         s.conns.stateChanged,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return callCtx },
		ConnContext:       withConn,
		// The path "*" must pass the checks, too.
		DisableGeneralOptionsHandler: true,
	}
}

// librarySlack is by how many bytes net/http lets a head exceed MaxHeaderBytes.
const librarySlack = 4 << 10

// shutDown refuses new requests and waits for those in flight, within the limits of shutdownTime.
func (s *server) shutDown(callCtx context.Context, h *http.Server, cancelCalls context.CancelCauseFunc) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.conns.closeWaiting()
	shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(callCtx), shutdownTime)
	defer cancel()
	if h.Shutdown(shutdownCtx) != nil {
		cancelCalls(api.ErrHurry)
		_ = h.Close() // the error is that of the closed listener
	}
	done := make(chan struct{})
	go func() { // ends with the last request, which a hanging store may delay
		defer close(done)
		s.inFlight.Wait()
	}()
	late := time.NewTimer(shutdownTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		s.log.Warn("a request did not end and was abandoned")
	}
}
