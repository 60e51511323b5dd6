package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"waybill/schema"
	"waybill/wire"
)

// A stream is what the library takes for the connection. The library gets to know of a message only
// what it needs to hand it to the Handler, and only when it is sure to accept it: it ends the session
// over anything else. Params never pass through it, for it would sort and re-encode them.
//
// ReadObject, take and more are called by one goroutine at a time, the library's reader.
type stream struct {
	frames  *wire.Frames
	scanner wire.Scanner
	outbox  *outbox
	log     *slog.Logger
	tally   *wire.Tally

	members []message // of a batch, that are still to be handed over
	room    []message // reused to take members
	now     message   // that the library is handing over
	note    []byte    // reused to tell the library

	stopping <-chan struct{} // closed when nothing more is to be read
	// ended is closed by ReadObject with its error, after which the library does not call it again.
	ended chan struct{}
}

// ReadObject gives the library the next request. What is not one is answered here.
func (s *stream) ReadObject(v any) error {
	for {
		m, err := s.next()
		switch {
		case err != nil:
			return s.end(err)
		case m.Fault != nil:
			s.refuse(m)
		case m.Response:
			s.tally.Responses.Add(1)
			s.log.Debug("a response was dropped: no request was sent")
		default:
			s.now = m
			if err := s.tell(v); err != nil {
				return s.end(err)
			}
			return nil
		}
	}
}

// take gives the message that the library is handing over.
func (s *stream) take() message {
	m := s.now
	s.now = message{}
	return m
}

// more reports whether there is more to take than was taken, without waiting.
func (s *stream) more() bool { return len(s.members) > 0 || s.frames.Buffered() }

// tell puts a message's id and method into the library's value.
func (s *stream) tell(v any) error {
	s.note = append(append(empty(s.note), `{"method":`...), s.now.Method...)
	if s.now.ID != nil {
		s.note = append(append(s.note, `,"id":`...), s.now.ID...)
	}
	s.note = append(s.note, '}')
	return v.(json.Unmarshaler).UnmarshalJSON(s.note)
}

// next gives the next message, in order.
func (s *stream) next() (message, error) {
	for {
		if len(s.members) > 0 {
			m := s.members[0]
			s.members[0] = message{}
			s.members = s.members[1:]
			return m, nil
		}
		select {
		case <-s.stopping:
			return message{}, io.EOF
		default:
		}
		f, err := s.frames.Next()
		if err != nil {
			return message{}, err
		}
		s.open(f)
	}
}

// end ends the reading. To the library every end is a proper one.
func (s *stream) end(cause error) error {
	select {
	case <-s.stopping:
	default:
		if !errors.Is(cause, io.EOF) {
			s.log.Warn("the input cannot be read any further", "cause", cause)
		}
	}
	s.outbox.kick() // for what was answered on the spot since the last read
	close(s.ended)
	return io.EOF
}

// open takes the messages out of a frame.
func (s *stream) open(f wire.Frame) {
	if f.Fault != nil {
		s.cut(f)
		s.refuse(refused(f.Fault))
		return
	}
	body := f.Body
	if !f.Kept {
		body = bytes.Clone(body)
	}
	messages, many, fault := s.scanner.Read(body)
	if fault != nil {
		if fault.Data.Code != schema.InvalidBatch {
			s.frames.Lose() // a body that is not JSON may have been measured wrongly
			s.cut(f)
		}
		s.refuse(refused(fault))
		return
	}
	s.members = s.room[:0]
	for _, m := range messages {
		s.members = append(s.members, message{Message: m})
	}
	s.room = s.members
	if many {
		s.outbox.expect(newBatch(s.members))
	}
}

// cut logs that the input ended in mid-message.
func (s *stream) cut(f wire.Frame) {
	if f.Partial > 0 {
		s.log.Warn("the input ended in the middle of a message, which is discarded", "bytes", f.Partial)
	}
}

// refuse answers a message that does not get as far as the library.
func (s *stream) refuse(m message) {
	s.tally.Refuse(m.Fault.Data.Code)
	s.outbox.waitForSpace(s.stopping)
	s.outbox.put(m.batch, m.place, item{id: m.ID, answer: failed(m.Fault)})
}

// WriteObject would be called by the library if it were asked to send something.
func (s *stream) WriteObject(any) error {
	return errors.New("rpc: answers are written by the outbox, not by the library")
}

// Close has nothing to close: who made the stream ends the reading and the writing, in this order.
func (s *stream) Close() error { return nil }
