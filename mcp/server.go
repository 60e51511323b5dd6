// Package mcp serves the methods of a table to hosts that speak the Model Context Protocol. It has a dozen tools for a
// model, resources for the ledgers and open questions, and prompts for a person. It also renews the leases of tasks
// that were claimed through it, because a model cannot send heartbeats.
//
// It knows of a method only its declaration and result, opens no store or socket, and calls nothing below the table.
package mcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"waybill/api"
	"waybill/mcp/message"
	"waybill/mcp/supervise"
	"waybill/mcp/tool"
	"waybill/schema"
	"waybill/wire"
	"waybill/wire/conn"
)

// A server serves one host, in both eras of the protocol.
type server struct {
	o        Options
	self     *message.Implementation
	methods  map[string]method
	host     *conn.Conn
	client   atomic.Pointer[tool.Client] // of the legacy era, nil before initialize was accepted
	tools    *tool.Set
	updates  *updates
	handover sync.Mutex // held while the state is sent to a supervisor
}

// newServer returns a server. It starts no goroutine.
func newServer(o Options) *server {
	s := &server{o: o, self: &message.Implementation{Name: "waybill", Title: "waybill", Version: o.Version}, methods: methods()}
	s.tools = tool.New(tool.Options{
		Table: o.Table, Hooks: o.Hooks, Logger: o.Logger, Changed: s.handOver,
		Ask: func(ctx context.Context, method string, params, result any) error {
			return s.host.Call(ctx, method, params, result)
		},
	})
	s.updates = newUpdates(s.notifyUpdated)
	return s
}

// notify sends waybill's notifications as those of the protocol, and renews leases, until ctx ends. It returns after all
// its goroutines have ended.
func (s *server) notify(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { s.tools.Leases.Run(ctx) })
	running.Go(func() { s.updates.run(ctx) })
	if s.o.Notify != nil {
		err := s.recovered(func() error { return s.o.Notify(ctx, s.updates.record) })
		if err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("the notifier failed; the host is not notified of changes any more", "cause", err)
		}
	}
	running.Wait()
}

// recovered runs the notifier. A panic becomes an error.
func (s *server) recovered(notify func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it panicked; incident " + s.host.Report("the notifier panicked", p, "stack", string(debug.Stack())))
		}
	}()
	return notify()
}

// Serve serves one host over a pair of streams with one message a line, by the rules of package conn. Tools that change
// something take effect in the order of their lines; other requests run beside them.
//
// The exit code is that of the process. An error means that the options are wrong; Serve has then done nothing.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if o.Table == nil {
		return 2, errors.New("mcp: Options.Table is missing")
	}
	c := conn.Options{
		In: o.In, Out: o.Out, Framing: wire.Lines, Hurry: api.ErrHurry, Logger: o.Logger, Tally: o.Tally,
		MaxMessageBytes: o.maxMessageBytes,
	}
	if err := c.Check(); err != nil {
		return 2, fmt.Errorf("mcp: %w", err)
	}
	o.Logger = c.Logger
	s := newServer(o)
	c.Protocol, c.Attach, c.Background = s, func(host *conn.Conn) { s.host = host }, s.notify
	conn.Serve(ctx, c)
	return 0, nil
}

// isChange reports whether a call of a tool changes something.
func (s *server) isChange(params []byte) bool {
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	entry, ok := s.o.Table.Entry(p.Name)
	return ok && entry.Kind == schema.Change
}

// An inheritance is what a process leaves.
type inheritance struct {
	Key    string           `json:"key"` // of the forms
	Leases []tool.HeldLease `json:"leases"`
}

// handOver sends the present state to the supervisor, if there is one. States are sent in the order of their changes.
func (s *server) handOver() {
	if !s.o.Supervised {
		return
	}
	s.handover.Lock()
	defer s.handover.Unlock()
	s.host.Notify(supervise.StateMethod, inheritance{Key: base64.StdEncoding.EncodeToString(s.tools.Signer.Key[:]), Leases: s.tools.Leases.Held()})
}

// takeOver continues where a process died. It returns how many have died.
func (s *server) takeOver(params []byte) (deaths int) {
	var of supervise.State
	var left inheritance
	err := json.Unmarshal(params, &of)
	if err == nil && len(of.Left) > 0 {
		err = json.Unmarshal(of.Left, &left)
	}
	if key, bad := base64.StdEncoding.DecodeString(left.Key); bad == nil && len(key) == len(s.tools.Signer.Key) {
		copy(s.tools.Signer.Key[:], key)
	}
	if err != nil {
		s.o.Logger.Error("the state of the last process cannot be read", "cause", err)
	}
	for _, l := range left.Leases {
		s.tools.Leases.Inherit(l)
	}
	return of.Deaths
}
