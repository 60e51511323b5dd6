// Package web is the front door for programs and pages on this machine: the methods of a table over
// HTTP on a loopback address, and the event log as a stream.
//
// It refuses to listen where other machines can reach it, to know what any method means, to open a
// store, to set a cookie or to allow another origin, and to answer a request that does not carry the
// token, or that of a browser which was let in, but for the few paths that tell nothing and the files of a
// page, which are the same for everybody.
//
// # Who is let in
//
// A page of the web can make a browser send requests to this machine, and other users of the machine can
// connect to it. So every request is checked, in this order: the Host that it was meant for; the path and the
// verb; the kind and the size of its body; the origin of the page that sent it; the token. Nothing is
// read from a body before all of that holds, and nothing that a browser adds by itself counts as a proof.
//
// # How much it takes
//
// At most 64 connections are held. Where another one comes, the oldest that waits for its peer is ended, so that
// connections on which nothing happens keep nobody out, be it in the middle of a body. A head must be complete within
// 5 s and have at most 16 KiB, a body within 30 s and at most 128 KiB; an answer that nobody takes for 10 s is
// given up.
//
// # How events are streamed
//
// One reader of the event log keeps the last events for all streams, which take them from there and have no queues
// of their own. A stream that begins further back reads the log by itself until it has caught up; one that then falls
// behind what is kept is ended with a word, and can go on later from where it was.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"waybill/api"
)

//go:generate go generate ./page

const (
	headTime  = 5 * time.Second
	bodyTime  = 30 * time.Second
	idleTime  = time.Minute
	writeTime = 10 * time.Second
	// callTime is when a call that was not carried out yet is given up.
	callTime = 20 * time.Second
	// lateTime is how long it may take to give it up.
	lateTime = 5 * time.Second
	// leaveTime bounds how long calls in hand may take on the way out, and then how long those may that were
	// told to hurry.
	leaveTime = 300 * time.Millisecond

	maxConnections = 64
	maxHeadBytes   = 16 << 10
	maxBodyBytes   = 128 << 10
)

// Options says what Serve serves to whom. Listener, Table, Subscribe and Token are required.
type Options struct {
	// Listener is of an Address. Serve closes it.
	Listener net.Listener
	// Table has the methods.
	Table *api.Table
	// Subscribe gives a channel of size one that is signalled when there may be more events, until stop is called.
	Subscribe func() (wake <-chan struct{}, stop func(), err error)
	// Token is what a request has to show, from NewToken.
	Token string
	// Counts gives what the metrics tell beside what the methods know; without it they tell less.
	Counts func(ctx context.Context) Counts
	// Page is what a browser is shown; without it nothing is.
	Page []File
	// Logger gets what no client can be told; by default nobody does.
	Logger *slog.Logger
}

// A server is one front door.
type server struct {
	o       Options
	log     *slog.Logger
	pass    *pass
	crowd   *crowd
	streams streams
	counted counted
	page    map[string]*route
	hosts   []string        // that a request may be meant for
	leaving <-chan struct{} // closed when streams are to end
	work    context.Context // of all requests, and of what streams share; ends when what is left is to hurry
	store   condition

	mu     sync.RWMutex   // guards closed, and that inHand grows only before it is set
	closed bool           // nothing new is taken
	inHand sync.WaitGroup // requests, and who reads the log for them
}

// Serve answers requests until ctx ends; then it ends the streams, lets the calls in hand be carried out, and
// returns within a second. An error means that the options are wrong, or that nothing can be accepted any more.
func Serve(ctx context.Context, o Options) error {
	s, err := newServer(ctx, o)
	if err != nil {
		return err
	}
	work, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	s.work = work
	h := s.http()
	var broken error
	ended := make(chan struct{})
	go func() { // ends when h is shut down
		defer close(ended)
		broken = h.Serve(s.crowd)
	}()
	select {
	case <-ended:
		s.leave(h, giveUp)
		return fmt.Errorf("accept connections: %w", broken)
	case <-ctx.Done():
		s.leave(h, giveUp)
		<-ended
		return nil
	}
}

func newServer(ctx context.Context, o Options) (*server, error) {
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
	page, err := routesTo(o.Page)
	if err != nil {
		return nil, err
	}
	return &server{
		o: o, page: page, log: o.Logger, pass: newPass(o.Token), crowd: newCrowd(o.Listener, maxConnections), hosts: hosts, leaving: ctx.Done(),
		store: condition{looking: make(chan struct{}, 1)},
	}, nil
}

// http gives the server of the protocol: version 1.1 of it, whatever a client offers to upgrade to.
func (s *server) http() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		ReadHeaderTimeout: headTime,
		ReadTimeout:       bodyTime,
		WriteTimeout:      bodyTime + callTime + lateTime + writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeadBytes - librarySlack,
		ConnState:         s.crowd.changed,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return s.work },
		ConnContext:       known,
		// The path "*" is no exception to the checks.
		DisableGeneralOptionsHandler: true,
	}
}

// librarySlack is by how much the library lets a head be larger than it is told.
const librarySlack = 4 << 10

// leave takes nothing new, and waits for what is in hand as long as it may take.
func (s *server) leave(h *http.Server, giveUp context.CancelCauseFunc) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.crowd.dismiss()
	grace, cancel := context.WithTimeout(context.WithoutCancel(s.work), leaveTime)
	defer cancel()
	if h.Shutdown(grace) != nil {
		giveUp(api.ErrHurry)
		_ = h.Close() // its error is that of the listener, which is closed
	}
	done := make(chan struct{})
	go func() { // ends with the last request, which a store that hangs may hold up
		defer close(done)
		s.inHand.Wait()
	}()
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
		s.log.Warn("a request did not end and is left behind")
	}
}

// enter takes a request, unless it is too late for that. The caller calls s.inHand.Done.
func (s *server) enter() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.inHand.Add(1)
	return true
}
