package pipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/wire"
)

// roomTimeout is how long the reader waits for room without progress.
const roomTimeout = 3 * time.Second

// FirstModern is the first version of the protocol without a handshake. From it on every request names its version, and
// a result asks for a form; before, the server sends a request.
const FirstModern = "2026-07-28"

// cancellation is the notification by which either side cancels a request.
const cancellation = "notifications/cancelled"

// Listening is the method of a subscription; its answer ends the subscription.
const Listening = "subscriptions/listen"

// A conn is one connection. It reads the messages, refuses invalid ones, and passes the others to the session of their
// era. All sessions write through one lineWriter.
type conn struct {
	o        Options
	activity *wire.Pulse // when a request was last accepted, answered or written
	inFlight *requests
	writer   *lineWriter
	legacy   *session
	modern   *session
	ready    atomic.Bool // legacy has accepted initialize

	ending
	sessions sync.WaitGroup // served by the SDK

	// Only the reader uses the fields below.
	frames      *wire.Frames
	scanner     wire.Scanner
	initialized bool // initialize was passed to the SDK
	confirmed   bool // notifications/initialized was passed to the SDK

	asked      asked
	background background
}

// An ending has the steps by which a connection ends.
type ending struct {
	stop     func()        // ends the reading
	stopping chan struct{} // closed by stop
	ended    chan struct{} // closed by read
	closing  chan struct{} // closed by cleanUp: the sessions end
}

func newEnding() ending {
	e := ending{stopping: make(chan struct{}), ended: make(chan struct{}), closing: make(chan struct{})}
	e.stop = sync.OnceFunc(func() { close(e.stopping) })
	return e
}

// A background is the goroutine of the notifications and leases.
type background struct {
	sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc
}

func newConn(o Options) *conn {
	activity := wire.NewPulse()
	c := &conn{
		o: o, activity: &activity, asked: asked{ids: map[int64]bool{}}, ending: newEnding(),
	}
	c.inFlight = newRequests(c.activity)
	c.writer = newLineWriter(c.o, c.activity, c.complete)
	c.legacy, c.modern = newSession(c), newSession(c)
	c.frames = wire.NewFrames(countingReader{c.o.In, c.o.Tally}, c.o.MaxMessageBytes, wire.Lines, c.startNotifying)
	c.background.ctx, c.background.stop = context.WithCancel(context.Background())
	o.Server.AddReceivingMiddleware(c.withRequestContext)
	if o.Supervision != nil {
		o.Supervision.Attach(func(text []byte) { c.writer.writeAsync(line{text: text}) })
	}
	return c
}

// A countingReader counts the bytes of an input.
type countingReader struct {
	io.Reader
	tally *wire.Tally
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.tally.In.Add(int64(n))
	return n, err
}

// startNotifying is called after the host's first byte.
func (c *conn) startNotifying(wire.Framing) {
	c.background.Go(func() { // ends when background.stop was called
		if err := c.o.Background(c.background.ctx); err != nil && c.background.ctx.Err() == nil {
			c.o.Logger.Warn("the notifier failed; the host is not notified of changes any more", "cause", err)
		}
	})
}

// read handles one line after the other until the input or the connection ends.
func (c *conn) read() {
	defer close(c.ended)
	for {
		select {
		case <-c.stopping:
			return
		default:
		}
		f, err := c.frames.Next()
		if err == nil {
			c.parse(f)
			continue
		}
		select {
		case <-c.stopping:
		default:
			if !errors.Is(err, io.EOF) {
				c.o.Logger.Warn("reading the input failed", "cause", err)
			}
		}
		return
	}
}

// parse handles the message of a line.
func (c *conn) parse(f wire.Frame) {
	body := f.Body
	if !f.Kept {
		body = bytes.Clone(body)
	}
	fault, messages, many := f.Fault, []wire.Message(nil), false
	if fault == nil {
		messages, many, fault = c.scanner.Read(body)
	}
	switch {
	case many && (fault == nil || fault.Data.Code == schema.InvalidBatch):
		c.refuse(wire.Null, noBatches())
	case fault != nil:
		if f.Partial > 0 {
			c.o.Logger.Warn("the input ended in the middle of a message, which is discarded", "bytes", f.Partial)
		}
		c.refuse(wire.Null, fault)
	default:
		c.handle(messages[0], body)
	}
}

// handle dispatches a message by its kind.
func (c *conn) handle(m wire.Message, text []byte) {
	switch {
	case m.Fault != nil:
		c.refuse(m.ID, m.Fault)
	case m.Response:
		c.handleResponse(m.ID, text)
	case m.ID == nil:
		c.handleNotification(wire.Text(m.Method), m.Params)
	default:
		c.handleRequest(wire.Text(m.Method), m)
	}
}

// handleRequest passes a request to the session of its era.
func (c *conn) handleRequest(method string, m wire.Message) {
	r := &request{id: m.ID, key: idOf(m.ID), method: method, paramsSize: len(m.Params)}
	if c.inFlight.find(r.key) != nil {
		c.refuse(m.ID, duplicateID())
		return
	}
	era, tool := c.routeOf(m.Params)
	if era == c.legacy && !c.initialized && method != "initialize" && method != "ping" && method != "server/discover" {
		c.refuse(m.ID, beforeInitialize(method))
		return
	}
	if fault := c.admit(r.paramsSize); fault != nil {
		c.refuse(m.ID, fault)
		return
	}
	c.initialized = c.initialized || era == c.legacy && method == "initialize"
	r.era = era
	if era == c.modern && method == Listening {
		r.era = newSession(c)
		r.era.once = true
	}
	if !c.inFlight.begin(r, method == "tools/call" && c.o.IsChange(tool)) {
		c.refuse(m.ID, shuttingDown())
		return
	}
	if r.era.once {
		c.connect(r.era)
	}
	r.era.deliver(&jsonrpc.Request{ID: r.key, Method: method, Params: m.Params, Extra: r.extra})
}

// connect starts the SDK on a session. The SDK serves it until the session or the connection is closed.
func (c *conn) connect(s *session) {
	connected, err := c.o.Server.Connect(context.Background(), s, nil)
	if err != nil {
		panic("pipe: a session cannot be connected: " + err.Error())
	}
	c.sessions.Go(func() { _ = connected.Wait() }) // the end of the input is no error
}

// routeOf returns the session that a request is for, and the tool that it names, from its params.
func (c *conn) routeOf(params []byte) (era *session, tool string) {
	var p struct {
		Meta struct {
			Version jsontext.Value `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		Name jsontext.Value `json:"name"`
	}
	if len(params) == 0 || json.Unmarshal(params, &p) != nil { // the SDK reports the error
		return c.legacy, ""
	}
	if len(p.Name) > 0 {
		tool = wire.Text(p.Name)
	}
	if v := p.Meta.Version; len(v) > 0 && wire.Text(v) >= FirstModern {
		return c.modern, tool
	}
	return c.legacy, tool
}

// admit waits for room for a request. It returns an error if there is none.
func (c *conn) admit(size int) *schema.Error {
	for !c.inFlight.hasRoom(size) {
		if c.activity.Idle() >= roomTimeout {
			return overloaded()
		}
		again := time.NewTimer(roomTimeout)
		select {
		case <-c.inFlight.freed:
		case <-again.C:
		case <-c.stopping:
			return shuttingDown()
		}
		again.Stop()
	}
	return nil
}

// handleNotification handles a notification. The SDK queues notifications without limit, so this passes on only those
// that the SDK uses, and each once.
func (c *conn) handleNotification(method string, params []byte) {
	switch {
	case method == "notifications/initialized" && c.initialized && !c.confirmed:
		c.confirmed = true
		c.legacy.deliver(&jsonrpc.Request{Method: method, Params: params})
	case method == cancellation:
		c.cancelRequest(params)
	case c.o.Supervision != nil && method == c.o.Supervision.Method:
		c.asked.offset.Store(int64(c.o.Supervision.TakeOver(params)) * idsOfProcess)
	default:
		c.o.Logger.Debug("a notification was dropped", "method", safetext.Truncate(method, 80))
	}
}

// cancelRequest ends the handler of a request and drops its answer.
func (c *conn) cancelRequest(params []byte) {
	var p struct {
		ID jsontext.Value `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.ID) == 0 {
		return
	}
	// The SDK turns the id 1.5 into 1, so this compares the ids as they were sent, too.
	r := c.inFlight.find(idOf(p.ID))
	if r != nil && wire.Key(r.id) == wire.Key(p.ID) && r.method != "initialize" {
		r.drop()
	}
}

// handleResponse passes the host's answer to a request of a tool to the SDK.
func (c *conn) handleResponse(id, text []byte) {
	m, err := jsonrpc.DecodeMessage(text)
	response, ok := m.(*jsonrpc.Response)
	if err == nil && ok && c.asked.take(id, response) {
		c.legacy.deliver(response) // modern servers ask in their results instead
		return
	}
	c.o.Tally.Responses.Add(1)
	c.o.Logger.Debug("a response was dropped: it answers no request")
}

// refuse answers a message that is not passed to the SDK.
func (c *conn) refuse(id []byte, fault *schema.Error) {
	c.o.Tally.Refuse(fault.Data.Code)
	for c.writer.full() {
		select {
		case <-c.writer.roomFreed:
		case <-c.writer.broken:
			return
		case <-c.stopping:
			return
		}
	}
	c.writer.writeAsync(line{text: refusalMessage(id, fault)})
}
