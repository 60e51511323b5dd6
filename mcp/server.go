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
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/mcp/pages"
	"waybill/mcp/pipe"
	"waybill/mcp/supervise"
	"waybill/schema"
	"waybill/schema/codec"
)

// A server has the tools, resources and prompts of all sessions, in both eras of the protocol.
type server struct {
	sdk      *sdk.Server
	o        Options
	caller   *caller
	leases   *leaseRenewer
	pager    *pages.Pager
	signer   *stateSigner
	updates  *updates
	handover handover
}

// newServer returns a server. It starts no goroutine.
func newServer(o Options) *server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{o: o, caller: &caller{table: o.Table, log: o.Logger}, pager: pages.New(), signer: newStateSigner()}
	s.leases, s.updates = newLeaseRenewer(s.caller, s.handOver), newUpdates(s.notifyUpdated)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "waybill", Title: "waybill", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructionsFor(o), Logger: o.Logger, SetCacheable: notCached,
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.updates.unsubscribe,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true},
		},
	})
	s.sdk.AddReceivingMiddleware(s.leases.serving, s.recoverPanics, codeByEra, listTools)
	for i := range tools {
		s.addTool(tools[i])
	}
	s.addResources()
	s.addPrompts()
	return s
}

// notCached marks every answer as private and valid only now.
func notCached(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = 0, "private"
}

// notify sends waybill's notifications as those of the protocol, and renews leases, until ctx ends. It returns after all
// its goroutines have ended. An error says why notifications stopped.
func (s *server) notify(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { s.leases.run(ctx) })
	running.Go(func() { s.updates.run(ctx) })
	var err error
	if s.o.Notify != nil {
		err = s.recovered(func() error { return s.o.Notify(ctx, s.updates.record) })
	}
	running.Wait()
	return err
}

// subscribe starts to watch a resource. It opens the store, so that a host whose first call this is gets notifications.
// If that fails, notifications start when a later call opens the store.
func (s *server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	if err := s.updates.subscribe(ctx, req); err != nil {
		return err
	}
	if fault := s.caller.call(ctx, "list_awaiting", object{"limit": 1}, nil); fault != nil {
		s.o.Logger.Debug("no notifications of changes until the store can be opened", "cause", fault)
	}
	return nil
}

// notifyUpdated notifies the subscribers of a resource.
func (s *server) notifyUpdated(ctx context.Context, uri string) {
	if err := s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		s.o.Logger.Warn("a notification of a change failed", "uri", uri, "cause", err)
	}
}

// recoverPanics wraps a handler so that a panic becomes an INTERNAL error with an incident id, which the log explains.
func (s *server) recoverPanics(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, s.reportPanic(method, p)
			}
		}()
		return next(ctx, method, req)
	}
}

// recovered runs the notifier. A panic becomes an error.
func (s *server) recovered(notify func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.reportPanic("the notifier", p)
		}
	}()
	return notify()
}

func (s *server) reportPanic(method string, cause any) error {
	incident := pipe.NewIncident()
	s.o.Logger.Error("a handler panicked", "method", method, "incident", incident, "cause", cause, "stack", string(debug.Stack()))
	fault := schema.NewError(schema.Internal, method+" panicked; this is a defect of waybill").Hint("look for the incident in the log of waybill")
	fault.Data.Incident = incident
	return wireError(fault)
}

// wireError returns the protocol's error for a fault that the host must see, not the model.
func wireError(fault *schema.Error) *jsonrpc.Error {
	data, err := codec.Encode(fault.Data)
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: int64(fault.Code), Message: fault.Message, Data: data}
}

// codeNotFound is the code of the legacy era for an unknown resource.
const codeNotFound = -32002

// codeByEra wraps a handler so that an unknown resource gets the code of the session's era.
func codeByEra(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		fault, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || fault.Message != resourceNotFound {
			return result, err
		}
		gone := notFound(addressOf(req))
		if session, ok := req.GetSession().(*sdk.ServerSession); ok && eraOf(session) < pipe.FirstModern {
			gone.Code = codeNotFound
		}
		return nil, gone
	}
}

// addressOf returns the URI of the resource that a request names.
func addressOf(req sdk.Request) string {
	switch p := req.GetParams().(type) {
	case *sdk.ReadResourceParams:
		return p.URI
	case *sdk.SubscribeParams:
		return p.URI
	}
	return ""
}

// eraOf returns the version of the protocol that the SDK uses for a session.
func eraOf(session *sdk.ServerSession) string {
	if p := session.InitializeParams(); p != nil {
		return p.ProtocolVersion
	}
	return pipe.FirstModern
}

// Serve serves one host over a pair of streams with one message a line, by the rules of pipe.Serve.
//
// The exit code is that of the process. An error means that the options are wrong; Serve has then done nothing.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if err := o.fill(); err != nil {
		return 2, err
	}
	s := newServer(o)
	p := pipe.Options{
		In: o.In, Out: o.Out, Server: s.sdk, IsChange: s.isChange, Busy: o.Table.AtWork, Background: s.notify,
		Logger: o.Logger, Tally: o.Tally, MaxMessageBytes: o.maxMessageBytes,
	}
	if o.Supervised {
		p.Supervision = &pipe.Supervision{Method: supervise.StateMethod, TakeOver: s.takeOver, Attach: s.handover.attach}
	}
	pipe.Serve(ctx, p)
	return 0, nil
}

// isChange reports whether a tool changes something.
func (s *server) isChange(tool string) bool {
	entry, ok := s.o.Table.Entry(tool)
	return ok && entry.Kind == schema.Change
}

// A handover sends the state of this process to its supervisor.
type handover struct {
	mu   sync.Mutex   // guards send; states are sent in the order of their changes
	send func([]byte) // nil without a supervisor
}

func (h *handover) attach(send func(line []byte)) { h.send = send }

// An inheritance is what a process leaves.
type inheritance struct {
	Key    string      `json:"key"` // of the forms
	Leases []heldLease `json:"leases"`
}

// handOver sends the present state.
func (s *server) handOver() {
	h := &s.handover
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.send == nil {
		return
	}
	state := inheritance{Key: base64.StdEncoding.EncodeToString(s.signer.key[:]), Leases: s.leases.held()}
	text, err := codec.Encode(object{"jsonrpc": "2.0", "method": supervise.StateMethod, "params": state})
	if err != nil {
		s.o.Logger.Error("the state for the next process cannot be encoded", "cause", err)
		return
	}
	h.send(append(text, '\n'))
}

// takeOver continues where a process died. It returns how many have died.
func (s *server) takeOver(params []byte) (deaths int) {
	var of supervise.State
	var left inheritance
	err := json.Unmarshal(params, &of)
	if err == nil && len(of.Left) > 0 {
		err = json.Unmarshal(of.Left, &left)
	}
	if key, bad := base64.StdEncoding.DecodeString(left.Key); bad == nil && len(key) == len(s.signer.key) {
		copy(s.signer.key[:], key)
	}
	if err != nil {
		s.o.Logger.Error("the state of the last process cannot be read", "cause", err)
	}
	for _, l := range left.Leases {
		s.leases.inherit(l.TaskID, l.Token)
	}
	return of.Deaths
}
