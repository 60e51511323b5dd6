// Package mcp serves the methods of a table to hosts that speak the Model Context Protocol: the dozen that a model
// can use as tools, the ledgers and the waiting questions as resources, and prompts for a person. It translates, and
// renews the leases of what was claimed through it, because a model has no heartbeat.
//
// It refuses to know what any method does beyond what its result says, to open a store or a socket, and to call
// anything below the table.
package mcp

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
)

// A server is what the host of any number of sessions sees. It is the same in both eras of the protocol.
type server struct {
	sdk    *sdk.Server
	o      Options
	caller *caller
	keeper *keeper
	shelf  *shelf
	seal   *seal
	news   *updates
}

// newServer gives a server that has everything to serve, and has started nothing.
func newServer(o Options) *server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{o: o, caller: &caller{table: o.Table, log: o.Logger}, shelf: newShelf(), seal: newSeal()}
	s.keeper, s.news = newKeeper(s.caller), newUpdates(s.updated)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "waybill", Title: "waybill", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: o.Logger, SetCacheable: uncached,
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.news.unsubscribe,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true},
		},
	})
	s.sdk.AddReceivingMiddleware(s.guard, byEra)
	for i := range tools {
		s.addTool(&tools[i])
	}
	s.addResources()
	s.addPrompts()
	return s
}

// uncached says of every answer that it is true now, and for this host alone.
func uncached(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = 0, "private"
}

// run turns waybill's notifications into those of the protocol, and renews leases, until ctx ends. It returns when all
// that it started has ended; an error says why nobody is told of changes any more.
func (s *server) run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { s.keeper.run(ctx) })
	running.Go(func() { s.news.run(ctx) })
	var err error
	if s.o.Notify != nil {
		err = s.o.Notify(ctx, s.news.note)
	}
	running.Wait()
	return err
}

// subscribe begins to watch a resource. A host that has asked for nothing yet is told of changes, too: the store is opened
// for it. If that cannot be done now, it is told from when somebody could.
func (s *server) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	if err := s.news.subscribe(ctx, req); err != nil {
		return err
	}
	if fault := s.caller.call(ctx, "list_awaiting", object{"limit": 1}, nil); fault != nil {
		s.o.Logger.Debug("nobody is told of changes yet", "cause", fault)
	}
	return nil
}

// updated tells those who watch a resource that it has changed.
func (s *server) updated(ctx context.Context, uri string) {
	if err := s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
		s.o.Logger.Warn("a host could not be told of a change", "uri", uri, "cause", err)
	}
}

// guard keeps a defect from ending the process: who called is answered with an incident, which the log explains.
func (s *server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, s.broken(method, p)
			}
		}()
		return next(ctx, method, req)
	}
}

func (s *server) broken(method string, cause any) error {
	incident := newIncident()
	s.o.Logger.Error("a handler panicked", "method", method, "incident", incident, "cause", cause, "stack", string(debug.Stack()))
	fault := schema.NewError(schema.Internal, method+" panicked; this is a defect of waybill").Hint("look for the incident in the log of waybill")
	fault.Data.Incident = incident
	return wireError(fault)
}

// wireError gives the error of the protocol for one that is no concern of the model.
func wireError(fault *schema.Error) *jsonrpc.Error {
	data, err := schema.Encode(fault.Data)
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: int64(fault.Code), Message: fault.Message, Data: data}
}

// codeNotFound is how the legacy era says that a resource is not there.
const codeNotFound = -32002

// byEra says that a resource is not there as the era of the session does.
func byEra(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		fault, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || fault.Message != missing {
			return result, err
		}
		gone := notFound(addressOf(req))
		if session, ok := req.GetSession().(*sdk.ServerSession); ok && eraOf(session) < modernEra {
			gone.Code = codeNotFound
		}
		return nil, gone
	}
}

// addressOf gives the address that a request is about.
func addressOf(req sdk.Request) string {
	switch p := req.GetParams().(type) {
	case *sdk.ReadResourceParams:
		return p.URI
	case *sdk.SubscribeParams:
		return p.URI
	}
	return ""
}

// eraOf gives the version of the protocol by which the SDK treats a session.
func eraOf(session *sdk.ServerSession) string {
	if p := session.InitializeParams(); p != nil {
		return p.ProtocolVersion
	}
	return modernEra
}
