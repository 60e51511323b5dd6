package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/internal/safetext"
	"waybill/mcp/supervise"
	"waybill/schema"
	"waybill/wire/conn"
)

// This file has the methods of the protocol, and which era has which.

// listening is the method of a subscription; its answer ends the subscription.
const listening = "subscriptions/listen"

// An era is a set of versions of the protocol.
type era uint8

// The versions with a handshake are the legacy era, those without are the modern one.
const (
	legacy era = 1 << iota
	modern
)

// A client is the host as a request names it, or the handshake.
type client struct {
	era   era
	name  string
	forms bool // it can show a form
}

// A request is a request of the host.
type request struct {
	*conn.Call
	client *client
	method method
}

// A method is a method of the protocol.
type method struct {
	eras     era
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
		who = &client{era: legacy}
	}
	if !known || who == nil || m.eras&who.era == 0 {
		return methodNotFound(c.Method)
	}
	if !m.noParams && !present(c.Params) {
		return &conn.Fault{Code: codeInvalidRequest, Message: `invalid request: missing required "params"`}
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
		s.leases.count(1)
		defer s.leases.count(-1)
	}
	t := &turn{call: c}
	defer t.abandon() // after a panic
	result, fault := r.method.run(s, context.WithValue(ctx, turnKey{}, t), r)
	if h, ok := result.(interface{ set(string, *implementation) }); ok && r.client.era == modern {
		h.set("complete", s.self)
	}
	c.Answer(t.answer(result, fault))
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
func clientOf(params []byte) (*client, *conn.Fault) {
	const prefix = "io.modelcontextprotocol/"
	var p struct {
		Meta struct {
			Version      jsontext.Value `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities jsontext.Value `json:"io.modelcontextprotocol/clientCapabilities"`
			Client       jsontext.Value `json:"io.modelcontextprotocol/clientInfo"`
		} `json:"_meta"`
	}
	var version string
	if len(params) == 0 || json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Meta.Version, &version) != nil || version < firstModern {
		return nil, nil
	}
	var who implementation
	if len(p.Meta.Client) > 0 && (!present(p.Meta.Client) || json.Unmarshal(p.Meta.Client, &who) != nil) {
		return nil, invalidParams(fmt.Sprintf("invalid _meta field %q", prefix+"clientInfo"))
	}
	var can clientCapabilities
	if !present(p.Meta.Capabilities) || json.Unmarshal(p.Meta.Capabilities, &can) != nil {
		return nil, invalidParams(fmt.Sprintf("missing or invalid _meta field %q", prefix+"clientCapabilities"))
	}
	if !slices.Contains(versions, version) {
		return nil, &conn.Fault{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: object{"supported": versions, "requested": version}}
	}
	return &client{modern, who.Name, can.hasForms()}, nil
}

// params decodes the params of a request, which may be absent.
func params[P any](r *request) (p P, fault *conn.Fault) {
	if !present(r.Params) {
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
	p, fault := params[initializeParams](r)
	if fault != nil {
		return nil, conn.FaultOf(schema.NewError(schema.InvalidParams, fault.Message))
	}
	if !slices.Contains(versions, p.Version) || p.Version == firstModern {
		p.Version = versions[1]
	}
	s.client.Store(&client{legacy, p.Client.Name, p.Capabilities.hasForms()})
	return &initializeResult{Version: p.Version, Capabilities: capabilities(), Server: s.self, Instructions: instructionsFor(s.o)}, nil
}

func (s *server) discover(context.Context, *request) (any, *conn.Fault) {
	return &discoverResult{validity: onlyNow, Versions: versions, Capabilities: capabilities(), Instructions: instructionsFor(s.o)}, nil
}

func capabilities() (c serverCapabilities) {
	c.Resources.Subscribe = true
	return c
}

// noEffect carries out a method that has no effect.
func noEffect(_ *server, _ context.Context, r *request) (any, *conn.Fault) {
	_, fault := params[struct{}](r)
	return emptyResult{}, fault
}

// onePage refuses the cursor of a list, because every list is one page.
func onePage(r *request) *conn.Fault {
	p, fault := params[listParams](r)
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

// nameOf returns the name of a client in the characters of a worker's name, or "mcp".
func (c *client) nameOf() string {
	name := strings.Map(workerRune, c.name)
	return cmp.Or(name[:min(len(name), 64)], "mcp")
}

func workerRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return r
	}
	return '-'
}
