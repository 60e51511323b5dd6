package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"waybill/schema"
	"waybill/wire"
)

// patience is how long the reader waits for room while nothing at all moves.
const patience = 3 * time.Second

// firstModern is the first version of the protocol without a handshake: every request names its version.
const firstModern = "2026-07-28"

// cancellation is how either side says that it does not want the answer to a request any more.
const cancellation = "notifications/cancelled"

// listening is the method whose answer ends a subscription.
const listening = "subscriptions/listen"

// A door is one connection. It reads the messages, refuses what is none, and passes the others on to the session of
// their era; what the sessions say goes out through one outlet.
type door struct {
	server *server
	o      Options
	moved  *wire.Pulse // when anything last did
	hand   *hand
	outlet *outlet
	legacy *session
	modern *session
	ready  atomic.Bool // legacy has accepted initialize

	stop     func()         // ends the reading
	stopping chan struct{}  // closed by stop
	ended    chan struct{}  // closed by read
	finished chan struct{}  // closed by release: the sessions end
	sessions sync.WaitGroup // that the SDK serves

	// Only the reader touches what follows.
	frames     *wire.Frames
	scanner    wire.Scanner
	introduced bool // initialize was passed on
	confirmed  bool // notifications/initialized was passed on

	mu    sync.Mutex          // guards asked
	asked map[jsonrpc.ID]bool // requests to the host that it has not answered

	notes     sync.WaitGroup // what the server runs beside the sessions
	notesCtx  context.Context
	stopNotes context.CancelFunc
}

func newDoor(s *server) *door {
	moved := wire.NewPulse()
	d := &door{
		server: s, o: s.o, moved: &moved, asked: map[jsonrpc.ID]bool{},
		stopping: make(chan struct{}), ended: make(chan struct{}), finished: make(chan struct{}),
	}
	d.stop = sync.OnceFunc(func() { close(d.stopping) })
	d.hand = newHand(d.moved)
	d.outlet = newOutlet(d.o, d.moved, d.land)
	d.legacy, d.modern = newSession(d), newSession(d)
	d.frames = wire.NewFrames(counted{d.o.In, d.o.Tally}, d.o.maxMessageBytes, wire.Lines, d.begin)
	d.notesCtx, d.stopNotes = context.WithCancel(context.Background())
	s.sdk.AddReceivingMiddleware(d.escort)
	return d
}

// A counted is an input whose bytes are counted.
type counted struct {
	io.Reader
	tally *wire.Tally
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.tally.In.Add(int64(n))
	return n, err
}

// begin is called when the host has sent its first byte.
func (d *door) begin(wire.Framing) {
	d.notes.Go(func() { // ends when stopNotes was called
		defer func() {
			if p := recover(); p != nil {
				_ = d.server.broken("the notifier", p)
			}
		}()
		if err := d.server.run(d.notesCtx); err != nil && d.notesCtx.Err() == nil {
			d.o.Logger.Warn("the host will not be told of changes any more", "cause", err)
		}
	})
}

// read takes one line after the other until there is a reason to end.
func (d *door) read() {
	defer close(d.ended)
	for {
		select {
		case <-d.stopping:
			return
		default:
		}
		f, err := d.frames.Next()
		if err == nil {
			d.open(f)
			continue
		}
		select {
		case <-d.stopping:
		default:
			if !errors.Is(err, io.EOF) {
				d.o.Logger.Warn("the input cannot be read any further", "cause", err)
			}
		}
		return
	}
}

// open takes the message out of a line.
func (d *door) open(f wire.Frame) {
	body := f.Body
	if !f.Kept {
		body = bytes.Clone(body)
	}
	fault, messages, many := f.Fault, []wire.Message(nil), false
	if fault == nil {
		messages, many, fault = d.scanner.Read(body)
	}
	switch {
	case many && (fault == nil || fault.Data.Code == schema.InvalidBatch):
		d.refuse(wire.Null, noBatches())
	case fault != nil:
		if f.Partial > 0 {
			d.o.Logger.Warn("the input ended in the middle of a message, which is discarded", "bytes", f.Partial)
		}
		d.refuse(wire.Null, fault)
	default:
		d.take(messages[0], body)
	}
}

// take sorts a message.
func (d *door) take(m wire.Message, text []byte) {
	switch {
	case m.Fault != nil:
		d.refuse(m.ID, m.Fault)
	case m.Response:
		d.hear(m.ID, text)
	case m.ID == nil:
		d.note(wire.Text(m.Method), m.Params)
	default:
		d.request(wire.Text(m.Method), m)
	}
}

// request passes a request on.
func (d *door) request(method string, m wire.Message) {
	f := &flight{id: m.ID, key: idOf(m.ID), method: method, size: len(m.Params)}
	if d.hand.find(f.key) != nil {
		d.refuse(m.ID, duplicateID())
		return
	}
	era, tool := d.survey(m.Params)
	if era == d.legacy && !d.introduced && method != "initialize" && method != "ping" && method != "server/discover" {
		d.refuse(m.ID, notIntroduced(method))
		return
	}
	if fault := d.admit(f.size); fault != nil {
		d.refuse(m.ID, fault)
		return
	}
	d.introduced = d.introduced || era == d.legacy && method == "initialize"
	if entry, ok := d.o.Table.Entry(tool); ok && method == "tools/call" {
		f.change = entry.Kind == schema.Change
	}
	f.era = era
	if era == d.modern && method == listening {
		f.era = newSession(d)
		f.era.once = true
	}
	if !d.hand.begin(f) {
		d.refuse(m.ID, shuttingDown())
		return
	}
	if f.era.once {
		d.connect(f.era)
	}
	f.era.deliver(&jsonrpc.Request{ID: f.key, Method: method, Params: m.Params, Extra: f.extra})
}

// connect has the SDK serve a session, until that is closed or the door is finished.
func (d *door) connect(s *session) {
	connected, err := d.server.sdk.Connect(context.Background(), s, nil)
	if err != nil {
		panic("mcp: a session cannot be connected: " + err.Error())
	}
	d.sessions.Go(func() { _ = connected.Wait() }) // nothing is wrong with the end of the input
}

// survey finds out from the params of a request which session it is for, and which tool it may call.
func (d *door) survey(params []byte) (era *session, tool string) {
	var p struct {
		Meta struct {
			Version jsontext.Value `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
		Name jsontext.Value `json:"name"`
	}
	if len(params) == 0 || json.Unmarshal(params, &p) != nil { // the SDK will say what is wrong
		return d.legacy, ""
	}
	if len(p.Name) > 0 {
		tool = wire.Text(p.Name)
	}
	if v := p.Meta.Version; len(v) > 0 && wire.Text(v) >= firstModern {
		return d.modern, tool
	}
	return d.legacy, tool
}

// admit waits for room, or says why there is none.
func (d *door) admit(size int) *schema.Error {
	for !d.hand.room(size) {
		if d.moved.Idle() >= patience {
			return overloaded()
		}
		again := time.NewTimer(patience)
		select {
		case <-d.hand.freed:
		case <-again.C:
		case <-d.stopping:
			return shuttingDown()
		}
		again.Stop()
	}
	return nil
}

// note takes a notification. The SDK queues what it gets without bound, so it gets those that mean something to it,
// and each once.
func (d *door) note(method string, params []byte) {
	switch {
	case method == "notifications/initialized" && d.introduced && !d.confirmed:
		d.confirmed = true
		d.legacy.deliver(&jsonrpc.Request{Method: method, Params: params})
	case method == cancellation:
		d.cancel(params)
	default:
		d.o.Logger.Debug("a notification was dropped", "method", string(wire.Excerpt([]byte(method))))
	}
}

// cancel has the handler of a request end. Its answer will not be sent.
func (d *door) cancel(params []byte) {
	var p struct {
		ID jsontext.Value `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.ID) == 0 {
		return
	}
	// The SDK's form of 1.5 is that of 1, so the ids as they were sent are compared, too.
	f := d.hand.find(idOf(p.ID))
	if f != nil && wire.Key(f.id) == wire.Key(p.ID) && f.method != "initialize" {
		f.silence()
	}
}

// hear takes the host's answer to a request of a tool.
func (d *door) hear(id, text []byte) {
	m, err := jsonrpc.DecodeMessage(text)
	r, ok := m.(*jsonrpc.Response)
	if err == nil && ok && d.awaited(id, r.ID) {
		d.legacy.deliver(r) // in the other era a server asks in its results
		return
	}
	d.o.Tally.Responses.Add(1)
	d.o.Logger.Debug("a response was dropped: it answers no request")
}

// awaited reports whether a request with this id has no answer yet, and notes that it has one now. The SDK makes whole
// numbers of others, so the id as it was sent is looked at.
func (d *door) awaited(id []byte, key jsonrpc.ID) bool {
	if n, ok := key.Raw().(int64); !ok || strconv.FormatInt(n, 10) != string(id) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.asked[key]
	delete(d.asked, key)
	return known
}

// refuse answers what does not get as far as the SDK.
func (d *door) refuse(id []byte, fault *schema.Error) {
	d.o.Tally.Refuse(fault.Data.Code)
	for d.outlet.full() {
		select {
		case <-d.outlet.eased:
		case <-d.outlet.broken:
			return
		case <-d.stopping:
			return
		}
	}
	d.outlet.post(line{text: refused(id, fault)})
}
