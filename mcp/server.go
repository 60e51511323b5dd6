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
}

// newServer gives a server that has everything to serve, and has started nothing.
func newServer(o Options) *server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{o: o, caller: &caller{table: o.Table, log: o.Logger}, shelf: newShelf(), seal: newSeal()}
	s.keeper = newKeeper(s.caller)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "waybill", Title: "waybill", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: o.Logger, SetCacheable: uncached,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	s.sdk.AddReceivingMiddleware(s.guard)
	for i := range tools {
		s.addTool(&tools[i])
	}
	return s
}

// uncached says of every answer that it is true now, and for this host alone.
func uncached(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = 0, "private"
}

// run turns waybill's notifications into those of the protocol until ctx ends. It returns when all that it started
// has ended.
func (s *server) run(ctx context.Context) error {
	if s.o.Notify == nil {
		<-ctx.Done()
		return nil
	}
	var running sync.WaitGroup
	defer running.Wait()
	err := s.o.Notify(ctx, func(string, any) {})
	if err == nil || errors.Is(err, context.Canceled) {
		<-ctx.Done()
		return nil
	}
	return err
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
func wireError(fault *schema.Error) error {
	data, err := schema.Encode(fault.Data)
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: int64(fault.Code), Message: fault.Message, Data: data}
}
