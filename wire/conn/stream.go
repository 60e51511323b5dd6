package conn

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sourcegraph/jsonrpc2"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/wire"
)

// A stream carries the messages of one host. It answers those that would end a connection of the library, such as one
// that is not JSON, and divides batches. Only one goroutine at a time reads.
type stream struct {
	frames  *wire.Frames
	scanner wire.Scanner
	framing wire.Framing // set before the first message is written
	batches bool         // batches are allowed
	calls   register
	outbox  *outbox
	freed   <-chan struct{} // holds a token if something was written
	log     *slog.Logger
	tally   *wire.Tally

	members  []member // of a batch, not yet passed to the library
	envelope []byte   // reused

	stopping <-chan struct{} // closed when the reading must stop
	ended    chan struct{}   // closed when there is nothing more to read
	released chan struct{}   // closed when the library may learn that
}

// A member is a message and the place of its answer.
type member struct {
	wire.Message
	position
}

// A reader is the stream of one Conn of the library. Only one reads at a time; one that was replaced gets io.EOF.
type reader struct {
	*stream
	conn     *jsonrpc2.Conn
	replaced bool  // set while the reader runs a call, read after that
	current  *Call // passed to the library, not yet to its handler

	// The library sets these under its own lock right before WriteObject, whose argument has them as private fields.
	request  *jsonrpc2.Request
	response *jsonrpc2.Response
}

// sending notes the message that WriteObject gets next.
func (r *reader) sending(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	r.request, r.response = request, response
}

// received notes a response that answers no request, or one that was withdrawn.
func (r *reader) received(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	if response != nil && (request == nil || request.ExtraFields[0].Value.(*note).withdrawn.Load()) {
		r.dropResponse()
	}
}

func (s *stream) dropResponse() {
	s.tally.Responses.Add(1)
	s.log.Debug("a response was dropped: it answers no request")
}

// ReadObject reads the next message for the library. Params bypass it, because it would sort and re-encode them.
func (r *reader) ReadObject(v any) error {
	for !r.replaced {
		m, err := r.next()
		switch {
		case err != nil:
			return r.finish(err)
		case m.Fault != nil:
			r.refuse(m.position, m.ID, m.Fault)
		case m.Response:
			if r.describeResponse(v, m.Message) {
				return nil
			}
			r.dropResponse()
		default:
			if c := r.open(m); c != nil {
				r.current = c
				return r.describe(v, m.Message)
			}
		}
	}
	return io.EOF
}

// open returns the call for a request or a notification. It refuses a request whose id is that of another one.
func (s *stream) open(m member) *Call {
	c := &Call{ID: m.ID, Params: m.Params, position: m.position}
	if c.ID == nil {
		return c
	}
	c.key = keyOf(c.ID)
	if !s.calls.add(c) {
		s.refuse(m.position, m.ID, duplicateID())
		return nil
	}
	return c
}

// take returns the call that the library passes to its handler.
func (r *reader) take() *Call {
	c := r.current
	r.current = nil
	return c
}

// hasMore reports whether another message is buffered. It does not block.
func (s *stream) hasMore() bool { return len(s.members) > 0 || s.frames.Buffered() }

// describe sets the library's value to the id and method of a message.
func (s *stream) describe(v any, m wire.Message) error {
	s.envelope = append(append(reuse(s.envelope), `{"method":`...), m.Method...)
	if m.ID != nil {
		s.envelope = append(append(s.envelope, `,"id":`...), m.ID...)
	}
	s.envelope = append(s.envelope, '}')
	return v.(json.Unmarshaler).UnmarshalJSON(s.envelope)
}

// describeResponse sets the library's value to a response. It reports false for one that the library cannot match.
func (s *stream) describeResponse(v any, m wire.Message) bool {
	if !isKey(m.ID) {
		return false
	}
	s.envelope = append(append(reuse(s.envelope), `{"id":`...), m.ID...)
	if m.Result != nil {
		s.envelope = append(append(s.envelope, `,"result":`...), m.Result...)
	} else {
		var fault struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(m.Error, &fault) // an error of any form is an error
		text, _ := codec.Encode(map[string]any{"code": 0, "message": fault.Message})
		s.envelope = append(append(s.envelope, `,"error":`...), text...)
	}
	s.envelope = append(s.envelope, '}')
	return v.(json.Unmarshaler).UnmarshalJSON(s.envelope) == nil
}

// next returns the next message, which may be a member of a batch.
func (s *stream) next() (member, error) {
	for {
		if len(s.members) > 0 {
			m := s.members[0]
			s.members[0] = member{}
			s.members = s.members[1:]
			return m, nil
		}
		select {
		case <-s.stopping:
			return member{}, io.EOF
		default:
		}
		f, err := s.frames.Next()
		if err != nil {
			return member{}, err
		}
		s.parse(f)
	}
}

// finish ends the reading. The library learns of the end only when all is answered, because it closes its connection
// then.
func (s *stream) finish(cause error) error {
	select {
	case <-s.stopping:
	default:
		if !errors.Is(cause, io.EOF) {
			s.log.Warn("reading the input failed", "cause", cause)
		}
	}
	s.outbox.wakeWriter() // for the answers since the last read
	close(s.ended)
	<-s.released
	return io.EOF
}

// parse divides a frame into messages.
func (s *stream) parse(f wire.Frame) {
	if f.Fault != nil {
		s.logPartial(f)
		s.refuse(position{}, wire.Null, f.Fault)
		return
	}
	body := f.Body
	if !f.Kept {
		body = bytes.Clone(body)
	}
	messages, many, fault := s.scanner.Read(body)
	if many && !s.batches && (fault == nil || fault.Data.Code == schema.InvalidBatch) {
		s.refuse(position{}, wire.Null, noBatches())
		return
	}
	if fault != nil {
		if fault.Data.Code != schema.InvalidBatch {
			s.frames.Resync() // the length of a body that is not JSON may be wrong
			s.logPartial(f)
		}
		s.refuse(position{}, wire.Null, fault)
		return
	}
	s.members = make([]member, len(messages))
	for i, m := range messages {
		s.members[i].Message = m
	}
	if many {
		s.place(s.members)
	}
}

// place assigns a position to every member of a batch that will be answered. It refuses a member that repeats the id of
// an earlier one, because the host could not distinguish the two answers.
func (s *stream) place(members []member) {
	b, seen := &batch{outbox: s.outbox}, map[string]bool{}
	for i := range members {
		m := &members[i]
		if m.Response && m.Fault == nil || m.ID == nil {
			continue
		}
		if m.Fault == nil {
			if key := wire.Key(m.ID); seen[key] {
				m.Fault = duplicateID()
			} else {
				seen[key] = true
			}
		}
		m.position = b.reserve()
	}
}

// logPartial logs that the input ended within a message.
func (s *stream) logPartial(f wire.Frame) {
	if f.Partial > 0 {
		s.log.Warn("the input ended in the middle of a message, which is discarded", "bytes", f.Partial)
	}
}

// refuse answers a message that the library does not see.
func (s *stream) refuse(at position, id []byte, fault *schema.Error) {
	s.tally.Refuse(fault.Data.Code)
	s.outbox.waitForSpace(s.freed, s.stopping)
	text, _ := encodeFault(nil, FaultOf(fault))
	s.put(at, nil, beginID, id, thenError, text, closingMark)
	s.outbox.completeLate()
}

// put adds an answer to the outbox, or to its batch.
func (s *stream) put(at position, to receiver, pieces ...[]byte) {
	if at.batch == nil {
		s.outbox.add(s.framing, to, pieces...)
		return
	}
	if whole, complete := at.batch.put(at.index, to, bytes.Join(pieces, nil)); complete {
		s.outbox.add(s.framing, at.batch, whole)
	}
}

// WriteObject writes a message of the library. It takes the result or the params as they are, because the library would
// encode them again and escape HTML. It does not block.
func (r *reader) WriteObject(any) error {
	switch {
	case r.response != nil:
		r.writeResponse(r.response)
	default:
		r.writeRequest(r.request)
	}
	return nil
}

// These begin and end the members of messages.
var (
	beginID     = []byte(`{"jsonrpc":"2.0","id":`)
	thenResult  = []byte(`,"result":`)
	thenError   = []byte(`,"error":`)
	closingMark = []byte(`}`)
)

// writeResponse writes the answer to a call, with the id as the host has spelled it.
func (s *stream) writeResponse(r *jsonrpc2.Response) {
	c := s.calls.take(r.ID)
	if r.Result != nil {
		s.put(c.position, c, beginID, c.ID, thenResult, *r.Result, closingMark)
		return
	}
	text := strconv.AppendInt([]byte(`{"code":`), r.Error.Code, 10)
	text, _ = jsontext.AppendQuote(append(text, `,"message":`...), r.Error.Message)
	if r.Error.Data != nil {
		text = append(append(text, `,"data":`...), *r.Error.Data...)
	}
	s.put(c.position, c, beginID, c.ID, thenError, append(text, '}'), closingMark)
}

// encoded is the extra field of a request that has its note.
const encoded = "encoded"

// writeRequest writes a notification, or a request to the host.
func (s *stream) writeRequest(r *jsonrpc2.Request) {
	params := r.ExtraFields[0].Value.(*note).params
	text := []byte(`{"jsonrpc":"2.0","method":`)
	if !r.Notif {
		text = strconv.AppendUint([]byte(`{"jsonrpc":"2.0","id":`), r.ID.Num, 10)
		text = append(text, `,"method":`...)
	}
	text, _ = jsontext.AppendQuote(text, r.Method)
	if params != nil {
		text = append(append(text, `,"params":`...), params...)
	}
	s.outbox.add(s.framing, nil, text, closingMark)
}

// A note is what a message to the host has beside its method.
type note struct {
	params    []byte // as they are written; nil if absent
	withdrawn atomic.Bool
}

// Close does nothing: the connection closes the input and the output.
func (s *stream) Close() error { return nil }

// reuse returns the buffer with length 0, or nil if it is very large.
func reuse(buffer []byte) []byte {
	if cap(buffer) > keepBytes {
		return nil
	}
	return buffer[:0]
}
