package pipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/wire"
)

// roomTimeout is how long the reader waits for room without progress.
const roomTimeout = 3 * time.Second

// cancellation is the notification by which either side cancels a request.
const cancellation = "notifications/cancelled"

// A Conn is one connection. It reads the messages, refuses invalid ones, and runs the others.
type Conn struct {
	o        Options
	activity *wire.Pulse // when a request was last accepted, answered or written
	inFlight *requests
	writer   *lineWriter
	handlers sync.WaitGroup
	calls    outgoing

	ending

	// Only the reader uses the fields below.
	frames  *wire.Frames
	scanner wire.Scanner

	background background
}

// An ending has the steps by which a connection ends.
type ending struct {
	stop     func()        // ends the reading
	stopping chan struct{} // closed by stop
	ended    chan struct{} // closed by read
	closing  chan struct{} // closed by cleanUp: the calls to the host end
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

func newConn(o Options) *Conn {
	activity := wire.NewPulse()
	c := &Conn{o: o, activity: &activity, ending: newEnding(), inFlight: newRequests(&activity)}
	c.calls.open = map[string]chan<- response{}
	c.writer = newLineWriter(c.o, c.activity, c.complete)
	c.frames = wire.NewFrames(countingReader{c.o.In, c.o.Tally}, c.o.MaxMessageBytes, wire.Lines, c.startNotifying)
	c.background.ctx, c.background.stop = context.WithCancel(context.Background())
	o.Attach(c)
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
func (c *Conn) startNotifying(wire.Framing) {
	c.background.Go(func() { c.o.Background(c.background.ctx) }) // ends when background.stop was called
}

// read handles one line after the other until the input or the connection ends.
func (c *Conn) read() {
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
func (c *Conn) parse(f wire.Frame) {
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
func (c *Conn) handle(m wire.Message, text []byte) {
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

// handleRequest runs a request.
func (c *Conn) handleRequest(method string, m wire.Message) {
	r := &request{Request: Request{m.ID, method, m.Params}, key: wire.Key(m.ID)}
	if c.inFlight.find(r.key) != nil {
		c.refuse(m.ID, duplicateID())
		return
	}
	work, bad := c.o.Accept(&r.Request)
	if bad != nil {
		c.refuseWith(m.ID, bad)
		return
	}
	fault := c.admit(len(m.Params))
	if fault == nil && !c.inFlight.begin(r, work.Change) {
		fault = shuttingDown()
	}
	switch {
	case fault != nil:
		c.refuse(m.ID, fault)
	case work.Inline:
		c.run(r, work)
	default:
		c.handlers.Go(func() { c.run(r, work) }) // ends with the request
	}
}

// run runs a request and answers it.
func (c *Conn) run(r *request, work Work) {
	ctx, leave := r.handlerContext(context.Background())
	defer leave()
	result, fault := work.Run(ctx)
	if l, ok := c.answer(r, result, fault); ok && work.Inline { // the reader must not wait for the host
		c.writer.writeAsync(l)
	} else if ok {
		c.writer.write(l)
	}
}

// admit waits for room for a request. It returns an error if there is none.
func (c *Conn) admit(size int) *schema.Error {
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

// handleNotification handles a notification. All but these are dropped.
func (c *Conn) handleNotification(method string, params []byte) {
	switch {
	case method == cancellation:
		c.cancelRequest(params)
	case method == c.o.Predecessor && method != "":
		c.calls.last.Store(int64(c.o.TakeOver(params)) * idsOfProcess)
	default:
		c.o.Logger.Debug("a notification was dropped", "method", safetext.Truncate(method, 80))
	}
}

// cancelRequest ends the handler of a request and drops its answer.
func (c *Conn) cancelRequest(params []byte) {
	var p struct {
		ID jsontext.Value `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.ID) == 0 {
		return
	}
	if r := c.inFlight.find(wire.Key(p.ID)); r != nil {
		r.drop()
	}
}

// handleResponse passes the host's answer to the call that waits for it.
func (c *Conn) handleResponse(id, text []byte) {
	if !c.calls.answer(id, text) {
		c.o.Tally.Responses.Add(1)
		c.o.Logger.Debug("a response was dropped: it answers no request")
	}
}

// refuse answers a message that is not run.
func (c *Conn) refuse(id []byte, fault *schema.Error) {
	c.o.Tally.Refuse(fault.Data.Code)
	c.refuseWith(id, FaultOf(fault))
}

func (c *Conn) refuseWith(id []byte, fault *Fault) {
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
