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
	"waybill/mcp/pipe"
	"waybill/schema"
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
	*pipe.Request
	client *client
}

// A method is a method of the protocol.
type method struct {
	eras     era
	noParams bool // the params may be left out
	inline   bool // it waits for nothing
	run      func(*server, context.Context, *request) (any, *pipe.Fault)
}

func methods() map[string]method {
	both := legacy | modern
	return map[string]method{
		"initialize":               {eras: legacy, inline: true, run: (*server).initialize},
		"ping":                     {eras: legacy, inline: true, noParams: true, run: noEffect},
		"logging/setLevel":         {eras: legacy, inline: true, run: noEffect}, // nothing is logged to the host
		"server/discover":          {eras: modern, inline: true, noParams: true, run: (*server).discover},
		"tools/list":               {eras: both, inline: true, noParams: true, run: (*server).listTools},
		"tools/call":               {eras: both, run: (*server).callTool},
		"prompts/list":             {eras: both, inline: true, noParams: true, run: (*server).listPrompts},
		"prompts/get":              {eras: both, run: (*server).getPrompt},
		"resources/list":           {eras: both, inline: true, noParams: true, run: (*server).listResources},
		"resources/templates/list": {eras: both, inline: true, noParams: true, run: (*server).listTemplates},
		"resources/read":           {eras: both, run: (*server).readResource},
		"resources/subscribe":      {eras: legacy, run: (*server).subscribe},
		"resources/unsubscribe":    {eras: legacy, inline: true, run: (*server).unsubscribe},
		listening:                  {eras: both, run: (*server).listen},
	}
}

// accept returns how to carry out a request. The reader calls it for one request after the other.
func (s *server) accept(in *pipe.Request) (pipe.Work, *pipe.Fault) {
	who, fault := clientOf(in.Params)
	if who == nil && fault == nil {
		who = s.client.Load()
	}
	m, known := s.methods[in.Method]
	switch {
	case fault != nil:
		return pipe.Work{}, fault
	case who == nil && in.Method == "server/discover":
	case who == nil && in.Method != "initialize" && in.Method != "ping":
		return pipe.Work{}, pipe.FaultOf(beforeInitialize(in.Method))
	case who == nil:
		who = &client{era: legacy}
	}
	if !known || who == nil || m.eras&who.era == 0 {
		return pipe.Work{}, methodNotFound(in.Method)
	}
	if !m.noParams && !present(in.Params) {
		return pipe.Work{}, &pipe.Fault{Code: codeInvalidRequest, Message: `invalid request: missing required "params"`}
	}
	r := &request{in, who}
	return pipe.Work{Inline: m.inline, Change: in.Method == "tools/call" && s.isChange(in.Params), Run: func(ctx context.Context) (result any, fault *pipe.Fault) {
		if in.Method != listening { // which stays open without a user
			s.leases.count(1)
			defer s.leases.count(-1)
		}
		defer func() {
			if p := recover(); p != nil {
				result, fault = nil, s.reportPanic(in.Method, p)
			}
		}()
		if result, fault = m.run(s, ctx, r); fault != nil {
			return nil, fault
		}
		if h, ok := result.(interface{ set(string, *implementation) }); ok && who.era == modern {
			h.set("complete", s.self)
		}
		return result, nil
	}}, nil
}

// clientOf returns the client that the params of a modern request name, or nil for a legacy one.
func clientOf(params []byte) (*client, *pipe.Fault) {
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
		return nil, &pipe.Fault{Code: codeUnsupportedVersion, Message: "unsupported protocol version", Data: object{"supported": versions, "requested": version}}
	}
	return &client{modern, who.Name, can.hasForms()}, nil
}

// params decodes the params of a request, which may be absent.
func params[P any](r *request) (p P, fault *pipe.Fault) {
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
func (s *server) initialize(_ context.Context, r *request) (any, *pipe.Fault) {
	if s.client.Load() != nil {
		return nil, pipe.FaultOf(schema.NewError(schema.InvalidRequest, "initialize was answered before").
			Hint("use the version and capabilities of the first answer"))
	}
	p, fault := params[initializeParams](r)
	if fault != nil {
		return nil, pipe.FaultOf(schema.NewError(schema.InvalidParams, fault.Message))
	}
	if !slices.Contains(versions, p.Version) || p.Version == firstModern {
		p.Version = versions[1]
	}
	s.client.Store(&client{legacy, p.Client.Name, p.Capabilities.hasForms()})
	return &initializeResult{Version: p.Version, Capabilities: capabilities(), Server: s.self, Instructions: instructionsFor(s.o)}, nil
}

func (s *server) discover(context.Context, *request) (any, *pipe.Fault) {
	return &discoverResult{validity: onlyNow, Versions: versions, Capabilities: capabilities(), Instructions: instructionsFor(s.o)}, nil
}

func capabilities() (c serverCapabilities) {
	c.Resources.Subscribe = true
	return c
}

// noEffect carries out a method that has no effect.
func noEffect(_ *server, _ context.Context, r *request) (any, *pipe.Fault) {
	_, fault := params[struct{}](r)
	return emptyResult{}, fault
}

// onePage refuses the cursor of a list, because every list is one page.
func onePage(r *request) *pipe.Fault {
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
