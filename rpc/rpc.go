// Package rpc serves the methods of a table to one host, in JSON-RPC 2.0 over a pair of byte streams
// such as stdin and stdout. Package conn has the order of calls, their bounds, and the shutdown.
//
// It does not know what a method means, opens no store or socket, and sends no requests to the host.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/api"
	"waybill/internal/nearest"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/wire"
	"waybill/wire/conn"
)

// Options configures Serve. In, Out and Table are required.
type Options struct {
	// In is read until its end. Serve closes it.
	In io.ReadCloser
	// Out receives messages only. Serve closes it.
	Out io.WriteCloser
	// Table holds the methods. Methods of the connection need no Start.
	Table *api.Table
	// Notify, if not nil, is called once, after the host's first byte. It sends notifications until ctx ends. send
	// does not block; it may drop notifications and report their number later. The params must not change afterwards.
	Notify func(ctx context.Context, send func(method string, params any)) error
	// Framing is wire.Auto, the default, unless the host requires one.
	Framing wire.Framing
	// Logger receives events that no answer can report. The default discards them.
	Logger *slog.Logger
	// Tally, if not nil, counts the traffic of the connection and the events that no answer reported.
	Tally *wire.Tally

	// maxMessageBytes limits one message. Tests set it.
	maxMessageBytes int
	// incident returns a new id for a defect. Tests set it to get predictable ids.
	incident func() string
}

// Serve answers the host's requests until the input or ctx ends, the host calls exit, or it stops reading. Every request
// that was read is then answered, if the host has read the answers.
//
// The exit code is 1 if the host called exit without shutdown, and otherwise 0. An error means that the options
// are wrong; Serve has then done nothing.
func Serve(ctx context.Context, o Options) (exitCode int, err error) {
	if o.Table == nil {
		return 2, errors.New("rpc: Options.Table is missing")
	}
	s := &server{o: o, own: ownMethods()}
	c := conn.Options{
		In: o.In, Out: o.Out, Framing: o.Framing, Batches: true, Protocol: s, Attach: func(c *conn.Conn) { s.conn = c },
		Hurry: api.ErrHurry, Logger: o.Logger, Tally: o.Tally, MaxMessageBytes: o.maxMessageBytes,
		Incident: o.incident, Dropped: dropped,
	}
	if o.Notify != nil {
		c.Background = s.notify
	}
	if err := c.Check(); err != nil {
		return 2, fmt.Errorf("rpc: %w", err)
	}
	s.o.Logger = c.Logger
	conn.Serve(ctx, c)
	if s.exitAsked.Load() && !s.shutdownAsked.Load() {
		return 1, nil
	}
	return 0, nil
}

// A server is the protocol of one connection.
type server struct {
	o             Options
	conn          *conn.Conn
	own           map[string]string // every name of a method of the connection, see ownMethods
	shutdownAsked atomic.Bool       // shutdown was called
	exitAsked     atomic.Bool       // exit was called
}

// notify sends notifications until ctx ends.
func (s *server) notify(ctx context.Context) {
	if err := s.o.Notify(ctx, s.conn.Offer); err != nil && ctx.Err() == nil {
		s.o.Logger.Warn("the notifier failed; no more notifications are sent", "cause", err)
	}
}

// dropped returns the notification that reports dropped ones.
func dropped(n int) (method string, params any) {
	return "log", &schema.LogNote{
		Level:   "warning",
		Message: "the host did not read in time, so notifications were dropped here; events_since returns all events",
		Dropped: n,
	}
}

// kinds maps the kinds of methods to those of calls.
var kinds = map[schema.Kind]conn.Kind{schema.Control: conn.Inline, schema.Connection: conn.Inline, schema.Read: conn.Read, schema.Change: conn.Change}

// Accept finds the method of a call.
func (s *server) Accept(c *conn.Call) *conn.Fault {
	if word, ok := s.own[c.Method]; ok {
		c.Kind, c.Entry = conn.Own, word
		return nil
	}
	entry, ok := s.o.Table.Entry(c.Method)
	if !ok {
		return conn.FaultOf(unknownMethod(c.Method, s.o.Table.Names()))
	}
	c.Method, c.Kind, c.Entry = entry.Name, kinds[entry.Kind], entry
	return nil
}

// Start runs the method of a call.
func (s *server) Start(ctx context.Context, c *conn.Call) {
	entry, ok := c.Entry.(*api.Entry)
	if !ok {
		s.startOwn(c.Entry.(string), c)
		return
	}
	entry.Start(ctx, c.Params, func(a api.Answer) { c.Answer(s.answer(c, a)) })
}

// answer returns an answer of the table. A defect gets an incident id, and its cause is logged.
func (s *server) answer(c *conn.Call, a api.Answer) conn.Answer {
	if a.Err == nil {
		return conn.Answer{Result: a.Result, Undelivered: a.Undelivered}
	}
	fault := *a.Err
	if fault.Data.Code == schema.Internal && fault.Data.Incident == "" {
		fault.Data.Incident = s.conn.Report("a method failed", a.Cause, "method", c.Method)
	}
	return conn.Answer{Fault: conn.FaultOf(&fault), Undelivered: a.Undelivered}
}

// ownMethods maps every name and alias of the connection's own methods to the name in startOwn.
func ownMethods() map[string]string {
	words := map[string]string{"notifications/cancelled": "$/cancelRequest"}
	for _, m := range schema.Methods {
		if m.Kind != schema.Connection {
			continue
		}
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			words[name] = m.Name
		}
	}
	return words
}

// startOwn runs one of the connection's own methods. shutdown refuses further calls, and is answered when every accepted
// call is answered or abandoned.
func (s *server) startOwn(word string, c *conn.Call) {
	switch word {
	case "shutdown":
		s.shutdownAsked.Store(true)
		s.conn.Refuse(func() { c.Answer(conn.Answer{}) })
		return
	case "exit":
		s.exitAsked.Store(true)
		s.conn.Stop()
	case "$/cancelRequest":
		s.cancelRequest(c.Params)
	}
	c.Answer(conn.Answer{})
}

// cancelRequest cancels the request that the params name, as LSP does (id) or as MCP does (requestId).
func (s *server) cancelRequest(params []byte) {
	var p struct {
		ID        jsontext.Value `json:"id"`
		RequestID jsontext.Value `json:"requestId"`
	}
	if json.Unmarshal(params, &p) == nil {
		s.conn.Cancel(p.ID, false)
		s.conn.Cancel(p.RequestID, false)
	}
}

// unknownMethod is the error for a method that does not exist. It names the nearest existing ones.
func unknownMethod(name string, known []string) *schema.Error {
	near := nearest.Names(name, known)
	e := schema.NewError(schema.MethodNotFound, fmt.Sprintf("there is no method %q", safetext.Truncate(name, 80))).
		With("did_you_mean", near)
	if len(near) > 0 {
		return e.Hint("did you mean " + strings.Join(near, " or ") + "?")
	}
	return e.Hint("rpc.discover lists the methods")
}
