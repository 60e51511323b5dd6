package wire

import (
	"bytes"
	"fmt"
	"strings"

	"waybill/schema"
)

// A Message is one JSON-RPC message, as bytes of the line or body that it came in.
type Message struct {
	// ID is nil for a notification. A request is answered with exactly these bytes.
	ID     []byte
	Method []byte // a JSON string
	Params []byte // nil if absent
	// Fault is why the message is refused; then only ID counts, which is null if it had none.
	Fault *schema.Error
	// Response marks what cannot be anything but an answer to a request.
	Response bool
}

// An envelope collects the members of a message. Absent ones are nil.
type envelope struct {
	jsonrpc, id, method, params []byte
	answers                     bool   // there is a result or an error
	odd                         string // a member that differs from one of the protocol in case
	twice                       bool   // there is more than one id
}

// member takes note of one member, at its first occurrence.
func (e *envelope) member(name, value []byte, fresh bool) {
	if !fresh {
		e.twice = e.twice || string(name) == "id"
		return
	}
	switch string(name) {
	case "jsonrpc":
		e.jsonrpc = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result", "error":
		e.answers = true
	default:
		e.compare(name)
	}
}

// protocol lists the names that only count in lower case.
var protocol = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

func (e *envelope) compare(name []byte) {
	if len(name) > 3*len("jsonrpc") { // a letter that folds to one of ours has three bytes at most
		return
	}
	for _, p := range protocol {
		if strings.EqualFold(p, string(name)) {
			e.odd = string(name)
		}
	}
}

// Read checks one line or body, and gives the messages in it, which share its memory. many says that they
// are the members of a batch. A fault concerns the whole, whatever is in it.
func (s *Scanner) Read(data []byte) (messages []Message, many bool, fault *schema.Error) {
	s.data, s.pos, s.fault = data, 0, nil
	defer s.forget() // a large message must not be kept until the next one comes
	s.space()
	count := 0
	if many = s.peek() == '['; many {
		s.elements(func() bool {
			m, ok := s.message()
			if count++; ok && count <= schema.MaxBatch {
				messages = append(messages, m)
			}
			return ok
		})
	} else if m, ok := s.message(); ok {
		messages = []Message{m}
	}
	if s.fault == nil {
		if s.space(); s.pos < len(data) {
			s.unexpected("the end of the message")
		}
	}
	switch {
	case s.fault != nil:
		return nil, many, s.fault.Hint(hint(data))
	case many && (count == 0 || count > schema.MaxBatch):
		return nil, many, schema.NewError(schema.InvalidBatch, fmt.Sprintf("the batch has %d members", count)).
			With("limit", schema.MaxBatch).
			Hint(fmt.Sprintf("send 1 to %d members in a batch", schema.MaxBatch))
	}
	return messages, many, nil
}

// message reads one message; ok is false if it is not even JSON.
func (s *Scanner) message() (m Message, ok bool) {
	var e envelope
	s.refused = nil
	object := s.peek() == '{'
	if object {
		ok = s.object(1, &e)
	} else {
		ok = s.value(1)
	}
	if !ok {
		return Message{}, false
	}
	fault := s.refused
	if fault == nil && !object {
		fault = invalid("the message is not an object")
	}
	if fault == nil {
		fault = e.check()
	}
	if fault != nil {
		return Message{ID: e.echo(), Fault: fault}, true
	}
	return Message{ID: e.id, Method: e.method, Params: e.params, Response: e.method == nil}, true
}

// check says what is wrong with the members, each of which is valid JSON.
func (e *envelope) check() *schema.Error {
	switch {
	case e.method == nil && e.answers:
		return nil
	case e.odd != "":
		return invalid(fmt.Sprintf("the member %q is not of the protocol, whose names are in lower case", e.odd))
	case e.jsonrpc != nil && Text(e.jsonrpc) != "2.0":
		return invalid(`the member jsonrpc is not "2.0"`)
	case e.method != nil && e.answers:
		return invalid("the message is a request and a response at once")
	case e.method == nil:
		return invalid("the message has no method")
	case Text(e.method) == "":
		return invalid("the member method is not a string, or empty")
	}
	return e.checkID()
}

// maxIDBytes bounds a string that is an id, maxID a number.
const (
	maxIDBytes = 256
	maxID      = 1<<53 - 1
)

func (e *envelope) checkID() *schema.Error {
	if e.id == nil {
		return nil
	}
	ok := false
	switch e.id[0] {
	case '"':
		text := Text(e.id)
		ok = len(text) <= maxIDBytes && !strings.Contains(text, "\x00")
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		ok = whole(e.id)
	}
	if ok {
		return nil
	}
	return invalid(fmt.Sprintf("the member id is neither a string of at most %d bytes without U+0000 nor an integer from 0 to %d", maxIDBytes, uint64(maxID))).
		Hint("leave id out to send a notification")
}

// whole reports whether a JSON number is an integer up to maxID, written with digits only.
func whole(number []byte) bool {
	if len(number) > len("9007199254740991") {
		return false
	}
	n := uint64(0)
	for _, c := range number {
		if c < '0' || c > '9' {
			return false
		}
		n = 10*n + uint64(c-'0')
	}
	return n <= maxID
}

// maxEchoBytes bounds the id that a refusal repeats.
const maxEchoBytes = 4 << 10

// echo gives the id with which the message is refused: its own if that is a string or a number.
func (e *envelope) echo() []byte {
	if e.id == nil || e.twice || len(e.id) > maxEchoBytes {
		return Null
	}
	switch e.id[0] {
	case '{', '[', 't', 'f':
		return Null
	}
	return e.id
}

// Null is the id of an answer to what has none that could be read.
var Null = []byte("null")

// Text gives the text of a JSON string, and "" of every other value.
func Text(value []byte) string {
	switch {
	case value[0] != '"':
		return ""
	case bytes.IndexByte(value, '\\') >= 0:
		return string(unescape(value))
	}
	return string(value[1 : len(value)-1])
}

// Key gives what two ids have in common that mean the same, such as one with an escape and one without.
func Key(id []byte) string {
	if id[0] == '"' {
		return `"` + Text(id)
	}
	return string(id)
}

func invalid(what string) *schema.Error { return schema.NewError(schema.InvalidRequest, what) }

// hint guesses what the peer tried to say.
func hint(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")), bytes.IndexByte(data[:min(2, len(data))], 0) >= 0:
		return "this looks like UTF-16; send UTF-8"
	case len(data) >= len(anchor) && bytes.EqualFold(data[:len(anchor)], anchor):
		return "this connection began with lines; keep to one message per line, without headers"
	}
	return "send one JSON value per message, in UTF-8"
}
