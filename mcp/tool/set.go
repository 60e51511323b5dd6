// Package tool has the tools that a model calls, and the prompts that a person asks for. It also renews the leases of
// tasks that were claimed through it, because a model cannot send heartbeats.
//
// It knows of a method only its declaration and result, and no connection.
package tool

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/api"
	"waybill/mcp/message"
	"waybill/mcp/pages"
)

// Options configures a Set.
type Options struct {
	Table *api.Table
	// Hooks says that hooks of the host bring instructions to the model and report its tool calls.
	Hooks  bool
	Logger *slog.Logger
	// Ask sends a request to the host and decodes its result.
	Ask func(ctx context.Context, method string, params, result any) error
	// Changed is called after the leases, or what else the next process needs, have changed.
	Changed func()
}

// A Set has the tools and prompts for one host.
type Set struct {
	o      Options
	Caller *Caller
	Leases *Leases
	Signer *Signer
	pager  *pages.Pager
}

// New returns a Set. It starts no goroutine.
func New(o Options) *Set {
	c := &Caller{table: o.Table, log: o.Logger}
	return &Set{o: o, Caller: c, Leases: newLeases(c, o.Changed), Signer: newSigner(), pager: pages.New()}
}

// A Client is the host as a request names it, or the handshake.
type Client struct {
	Name   string
	Modern bool // it speaks a version without a handshake
	Forms  bool // it can show a form
}

// nameOf returns the name of a client in the characters of a worker's name, or "mcp".
func (c *Client) nameOf() string {
	name := strings.Map(workerRune, c.Name)
	return cmp.Or(name[:min(len(name), 64)], "mcp")
}

func workerRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return r
	}
	return '-'
}

// A call is one call of a tool.
type call struct {
	set    *Set
	ctx    context.Context
	client *Client
	form   map[string]jsontext.Value // answers to a form of an earlier result
	state  string                    // of that form
	args   args
	params object              // of the method
	needs  *message.ToolResult // the form that the host must show first, or nil
}

// result returns an answer with the facts. It keeps the texts that do not fit.
func (s *Set) result(f facts) *message.ToolResult {
	f = bounded(s.pager, paged(s.pager, f))
	return &message.ToolResult{Content: []message.Text{message.TextOf(strings.TrimSuffix(f.text(), "\n"))}, Structured: f}
}
