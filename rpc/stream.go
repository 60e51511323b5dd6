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

// A stream is the connection that the library sees. The library receives only the method and id of messages that
// it accepts, because it ends the session over any other. Params bypass it, because it would sort and re-encode them.
//
// Only one goroutine at a time, the library's reader, calls ReadObject, take and hasMore.
type stream struct {
	frames  *wire.Frames
	scanner wire.Scanner
	outbox  *outbox
	log     *slog.Logger
	tally   *wire.Tally

	members  []message // of a batch, not yet passed to the library
	buffer   []message // reused for members
	current  message   // passed to the library, not yet to Handle
	envelope []byte    // reused by describe

	stopping <-chan struct{} // closed when the reading must stop
	// ended is closed when ReadObject returns an error; the library does not call it again.
	ended chan struct{}
}

// ReadObject reads the next request for the library. It answers faulty messages itself and drops responses.
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
			s.current = m
			if err := s.describe(v); err != nil {
				return s.end(err)
			}
			return nil
		}
	}
}

// take returns the message that the library passes to Handle.
func (s *stream) take() message {
	m := s.current
	s.current = message{}
	return m
}

// hasMore reports whether another message is buffered. It does not block.
func (s *stream) hasMore() bool { return len(s.members) > 0 || s.frames.Buffered() }

// describe sets the library's value to the id and method of the current message.
func (s *stream) describe(v any) error {
	s.envelope = append(append(reuse(s.envelope), `{"method":`...), s.current.Method...)
	if s.current.ID != nil {
		s.envelope = append(append(s.envelope, `,"id":`...), s.current.ID...)
	}
	s.envelope = append(s.envelope, '}')
	return v.(json.Unmarshaler).UnmarshalJSON(s.envelope)
}

// next returns the next message, which may be a member of a batch.
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

// end stops the reading. It returns io.EOF to the library, whatever the cause.
func (s *stream) end(cause error) error {
	select {
	case <-s.stopping:
	default:
		if !errors.Is(cause, io.EOF) {
			s.log.Warn("reading the input failed", "cause", cause)
		}
	}
	s.outbox.wakeWriter() // for the answers since the last read
	close(s.ended)
	return io.EOF
}

// open parses a frame into messages.
func (s *stream) open(f wire.Frame) {
	if f.Fault != nil {
		s.logPartial(f)
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
			s.frames.Resync() // the length of a body that is not JSON may be wrong
			s.logPartial(f)
		}
		s.refuse(refused(fault))
		return
	}
	s.members = s.buffer[:0]
	for _, m := range messages {
		s.members = append(s.members, message{Message: m})
	}
	s.buffer = s.members
	if many {
		s.outbox.addBatch(newBatch(s.members))
	}
}

// logPartial logs that the input ended within a message.
func (s *stream) logPartial(f wire.Frame) {
	if f.Partial > 0 {
		s.log.Warn("the input ended in the middle of a message, which is discarded", "bytes", f.Partial)
	}
}

// refuse answers a message with its fault.
func (s *stream) refuse(m message) {
	s.tally.Refuse(m.Fault.Data.Code)
	s.outbox.waitForSpace(s.stopping)
	s.outbox.put(m.batch, m.index, item{id: m.ID, answer: errorAnswer(m.Fault)})
}

// WriteObject fails: the outbox writes the answers, not the library.
func (s *stream) WriteObject(any) error {
	return errors.New("rpc: answers are written by the outbox, not by the library")
}

// Close does nothing: the server closes the input and the output.
func (s *stream) Close() error { return nil }
