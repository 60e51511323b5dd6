package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/internal/safetext"
	"waybill/mcp/message"
	"waybill/mcp/supervise"
	"waybill/mcp/tool"
	"waybill/schema"
	"waybill/wire/conn"
)

// This file has the methods of the protocol, and which era has which.

// listening is the method of a subscription; its answer ends the subscription.
const listening = "subscriptions/listen"

// The versions with a handshake are the legacy era, those without are the modern one.
const (
	legacy = 1 << iota
	modern
)

// eraOf returns the era that a client speaks.
func eraOf(c *tool.Client) int {
	if c.Modern {
		return modern
	}
	return legacy
}

// A request is a request of the host.
type request struct {
	*conn.Call
	client *tool.Client
	method method
}

// A method is a method of the protocol.
type method struct {
	eras     int  // the sum of those that have it
	noParams bool // the params may be left out
	kind     conn.Kind
	run      func(*server, context.Context, *request) (any, *conn.Fault)
}

func methods() map[string]method {
	both := legacy | modern
	return map[string]method{
		"initialize":               {eras: legacy, run: (*server).initialize},
		"ping":                     {eras: legacy, noParams: true, run: noEffect},
		"logging/setLevel":         {eras: legacy, run: noEffect}, // nothing is logged to the host
		"server/discover":          {eras: modern, noParams: true, run: (*server).discover},
		"tools/list":               {eras: both, noParams: true, run: (*server).listTools},
		"tools/call":               {eras: both, kind: conn.Read, run: (*server).callTool},
		"prompts/list":             {eras: both, noParams: true, run: (*server).listPrompts},
		"prompts/get":              {eras: both, kind: conn.Read, run: (*server).getPrompt},
		"resources/list":           {eras: both, noParams: true, run: (*server).listResources},
		"resources/templates/list": {eras: both, noParams: true, run: (*server).listTemplates},
		"resources/read":           {eras: both, kind: conn.Read, run: (*server).readResource},
		"resources/subscribe":      {eras: legacy, kind: conn.Read, run: (*server).subscribe},
		"resources/unsubscribe":    {eras: legacy, run: (*server).unsubscribe},
		listening:                  {eras: both, kind: conn.Concurrent, run: (*server).listen},
	}
}

// Accept finds the method of a request. Notifications are carried out at once, or dropped.
func (s *server) Accept(c *conn.Call) *conn.Fault {
	if c.ID == nil {
		c.Kind = conn.Own
		return nil
	}
	who, fault := clientOf(c.Params)
	if who == nil && fault == nil {
		who = s.client.Load()
	}
	m, known := s.methods[c.Method]
	switch {
	case fault != nil:
		return fault
	case who == nil && c.Method == "server/discover":
	case who == nil && c.Method != "initialize" && c.Method != "ping":
		return conn.FaultOf(beforeInitialize(c.Method))
	case who == nil:
		who = new(tool.Client)
	}
	if !known || who == nil || m.eras&eraOf(who) == 0 {
		return methodNotFound(c.Method)
	}
	if !m.noParams && !message.Present(c.Params) {
		return &conn.Fault{Code: message.CodeInvalidRequest, Message: `invalid request: missing required "params"`}
	}
	c.Kind, c.Lasting, c.Entry = m.kind, c.Method == listening, &request{c, who, m}
	if c.Method == "tools/call" && s.isChange(c.Params) {
		c.Kind = conn.ConcurrentChange
	}
	return nil
}

// Start carries out a request or a notification.
func (s *server) Start(ctx context.Context, c *conn.Call) {
	r, ok := c.Entry.(*request)
	if !ok {
		s.hear(c.Method, c.Params)
		c.Answer(conn.Answer{})
		return
	}
	if !c.Lasting { // a subscription stays open without a user
		s.tools.Leases.Count(1)
		defer s.tools.Leases.Count(-1)
	}
	ctx, t := tool.Begin(ctx, c)
	defer t.Abandon() // after a panic
	result, fault := r.method.run(s, ctx, r)
	if h, ok := result.(interface {
		Set(string, *message.Implementation)
	}); ok && r.client.Modern {
		h.Set("complete", s.self)
	}
	c.Answer(t.Answer(result, fault))
}

// hear carries out a notification. All but these are dropped.
func (s *server) hear(method string, params []byte) {
	switch {
	case method == "notifications/cancelled":
		var p struct {
			ID jsontext.Value `json:"requestId"`
		}
		if json.Unmarshal(params, &p) == nil {
			s.host.Cancel(p.ID, true)
		}
	case method == supervise.StateMethod && s.o.Supervised:
		s.host.SkipIDs(int64(s.takeOver(params)) * idsOfProcess)
	default:
		s.o.Logger.Debug("a notification was dropped", "method", safetext.Truncate(method, 80))
	}
}

// idsOfProcess is how many requests to the host one process can make. Each process begins behind those of its dead
// predecessors, so that a late answer to one of theirs is no answer to one of its own.
const idsOfProcess = 1 << 32

// clientOf returns the client that the params of a modern request name, or nil for a legacy one.
func clientOf(params []byte) (*tool.Client, *conn.Fault) {
	const prefix = "io.modelcontextprotocol/"
	var p struct {
		Meta struct {
			Version      jsontext.Value `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities jsontext.Value `json:"io.modelcontextprotocol/clientCapabilities"`
			Client       jsontext.Value `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	}
	var version string
	if len(params) == 0 || json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Meta.Version, &version) != nil || version < message.FirstModern {
		return nil, nil
	}
	var who message.Implementation
	if len(p.Meta.Client) > 0 && (!message.Present(p.Meta.Client) || json.Unmarshal(p.Meta.Client, &who) != nil) {
		return nil, invalidParams(fmt.Sprintf("invalid _meta field %q", prefix+"clientInfo"))
	}
	var can message.ClientCapabilities
	if !message.Present(p.Meta.Capabilities) || json.Unmarshal(p.Meta.Capabilities, &can) != nil {
		return nil, invalidParams(fmt.Sprintf("missing or invalid _meta field %q", prefix+"clientCapabilities"))
	}
	if !slices.Contains(message.Versions, version) {
		return nil, &conn.Fault{Code: message.CodeUnsupportedVersion, Message: "unsupported protocol version", Data: map[string]any{"supported": message.Versions, "requested": version}}
	}
	return &tool.Client{Name: who.Name, Modern: true, Forms: can.HasForms()}, nil
}

// params decodes the params of a request, which may be absent.
func params[P any](r *request) (p P, fault *conn.Fault) {
	if !message.Present(r.Params) {
		return p, nil
	}
	err := json.Unmarshal(r.Params, &p)
	if err == nil {
		return p, nil
	}
	where := "the params have"
	if bad, ok := errors.AsType[*json.SemanticError](err); ok && bad.JSONPointer != "" {
		where = safetext.Truncate(string(bad.JSONPointer), 80) + " has"
	}
	return p, invalidParams(fmt.Sprintf("handling '%s': invalid params: %s the wrong type", r.Method, where))
}

// initialize accepts the handshake. Its version is the one that the host names if the server speaks it.
func (s *server) initialize(_ context.Context, r *request) (any, *conn.Fault) {
	if s.client.Load() != nil {
		return nil, conn.FaultOf(schema.NewError(schema.InvalidRequest, "initialize was answered before").
			Hint("use the version and capabilities of the first answer"))
	}
	p, fault := params[message.InitializeParams](r)
	if fault != nil {
		return nil, conn.FaultOf(schema.NewError(schema.InvalidParams, fault.Message))
	}
	if !slices.Contains(message.Versions, p.Version) || p.Version == message.FirstModern {
		p.Version = message.Versions[1]
	}
	s.client.Store(&tool.Client{Name: p.Client.Name, Forms: p.Capabilities.HasForms()})
	return &message.InitializeResult{Version: p.Version, Capabilities: capabilities(), Server: s.self, Instructions: instructionsFor(s.o)}, nil
}

func (s *server) discover(context.Context, *request) (any, *conn.Fault) {
	return &message.DiscoverResult{Validity: message.OnlyNow, Versions: message.Versions, Capabilities: capabilities(), Instructions: instructionsFor(s.o)}, nil
}

func capabilities() (c message.ServerCapabilities) {
	c.Resources.Subscribe = true
	return c
}

// noEffect carries out a method that has no effect.
func noEffect(_ *server, _ context.Context, r *request) (any, *conn.Fault) {
	_, fault := params[struct{}](r)
	return message.EmptyResult{}, fault
}

// onePage refuses the cursor of a list, because every list is one page.
func onePage(r *request) *conn.Fault {
	p, fault := params[message.ListParams](r)
	if fault == nil && p.Cursor != "" {
		fault = invalidParams("invalid params: there is no page with this cursor")
	}
	return fault
}

// beforeInitialize returns the error for a request of the legacy era before initialize was accepted.
func beforeInitialize(method string) *schema.Error {
	return schema.NewError(schema.InvalidRequest, quote(method)+" came before initialize was accepted").
		Hint("send initialize first, or name the version of the protocol in _meta of each request")
}

// quote returns a name of the host in quotes.
func quote(name string) string { return strconv.Quote(safetext.Truncate(name, 80)) }

func methodNotFound(method string) *conn.Fault {
	return &conn.Fault{Code: message.CodeMethodNotFound, Message: "method not found: " + quote(method)}
}

func invalidParams(text string) *conn.Fault {
	return &conn.Fault{Code: message.CodeInvalidParams, Message: text}
}

func (s *server) listTools(_ context.Context, r *request) (any, *conn.Fault) {
	return &message.ToolList{Validity: message.OnlyNow, Tools: s.tools.List()}, onePage(r)
}

func (s *server) callTool(ctx context.Context, r *request) (any, *conn.Fault) {
	p, bad := params[message.ToolParams](r)
	if bad != nil {
		return nil, bad
	}
	result, fault, ok := s.tools.Call(ctx, r.client, &p)
	switch {
	case !ok:
		return nil, invalidParams("unknown tool " + quote(p.Name))
	case fault != nil:
		return nil, conn.FaultOf(fault)
	}
	return result, nil
}

func (s *server) listPrompts(_ context.Context, r *request) (any, *conn.Fault) {
	return &message.PromptList{Validity: message.OnlyNow, Prompts: tool.Prompts()}, onePage(r)
}

func (s *server) getPrompt(ctx context.Context, r *request) (any, *conn.Fault) {
	p, bad := params[message.PromptParams](r)
	if bad != nil {
		return nil, bad
	}
	text, fault, ok := s.tools.Prompt(ctx, p.Name, p.Arguments)
	switch {
	case !ok:
		return nil, invalidParams("unknown prompt " + quote(p.Name))
	case fault != nil:
		bad = conn.FaultOf(fault)
		if fault.Code > 0 { // such as an unknown plan: the argument is wrong
			bad.Code = message.CodeInvalidParams
		}
		return nil, bad
	}
	return &message.PromptResult{Messages: []message.PromptMessage{{Role: "user", Content: message.TextOf(text)}}}, nil
}
