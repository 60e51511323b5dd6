package wire

import (
	"bytes"
	"fmt"
	"strings"

	"waybill/schema"
)

// A Message is one JSON-RPC message. Its bytes belong to the line or body that it came in.
type Message struct {
	// ID is nil for a notification. A request is answered with exactly these bytes.
	ID     []byte
	Method []byte // a JSON string
	Params []byte // nil if absent
	// Fault is why the message is refused. Then only ID is valid; it is null if the message had none.
	Fault *schema.Error
	// Response marks an answer to a request, which has a Result or an Error.
	Response      bool
	Result, Error []byte
}

// A members collects the members of a message. Absent ones are nil.
type members struct {
	jsonrpc, id, method, params, result, err []byte

	wrongCase   string // a member that differs from one of the protocol only in case
	duplicateID bool   // the message has more than one id
}

// add records one member at its first occurrence.
func (e *members) add(name, value []byte, fresh bool) {
	if !fresh {
		e.duplicateID = e.duplicateID || string(name) == "id"
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
	case "result":
		e.result = value
	case "error":
		e.err = value
	default:
		e.checkCase(name)
	}
}

// isResponse reports whether there is a result or an error.
func (e *members) isResponse() bool { return e.result != nil || e.err != nil }

// protocol lists the member names of the protocol, which are in lower case.
var protocol = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

func (e *members) checkCase(name []byte) {
	if len(name) > 3*len("jsonrpc") { // a letter that folds to an ASCII letter has at most three bytes
		return
	}
	for _, p := range protocol {
		if strings.EqualFold(p, string(name)) {
			e.wrongCase = string(name)
		}
	}
}

// Read checks one line or body and returns its messages, which share its memory. many reports whether they are the
// members of a batch. fault means that the whole line or body is refused.
func (s *Scanner) Read(data []byte) (messages []Message, many bool, fault *schema.Error) {
	s.data, s.pos, s.fault = data, 0, nil
	defer s.release() // release the memory of a large message
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

// ReadLine returns the message of a line, or false if the line is no single message that Read accepts.
func (s *Scanner) ReadLine(line []byte) (m Message, ok bool) {
	messages, many, fault := s.Read(bytes.TrimSuffix(line, []byte("\n")))
	if many || fault != nil || messages[0].Fault != nil {
		return m, false
	}
	return messages[0], true
}

// message reads one message. ok is false if it is not JSON.
func (s *Scanner) message() (m Message, ok bool) {
	var e members
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
		return Message{ID: e.replyID(), Fault: fault}, true
	}
	return Message{ID: e.id, Method: e.method, Params: e.params, Response: e.method == nil, Result: e.result, Error: e.err}, true
}

// check returns an error if the members do not form a valid message.
func (e *members) check() *schema.Error {
	switch {
	case e.method == nil && e.isResponse():
		return nil
	case e.wrongCase != "":
		return invalid(fmt.Sprintf("the member %q is not of the protocol, whose names are in lower case", e.wrongCase))
	case e.jsonrpc != nil && Text(e.jsonrpc) != "2.0":
		return invalid(`the member jsonrpc is not "2.0"`)
	case e.method != nil && e.isResponse():
		return invalid("the message is a request and a response at once")
	case e.method == nil:
		return invalid("the message has no method")
	case Text(e.method) == "":
		return invalid("the member method is not a string, or empty")
	}
	return e.checkID()
}

// maxIDBytes limits a string id; maxID limits a number.
const (
	maxIDBytes = 256
	maxID      = 1<<53 - 1
)

func (e *members) checkID() *schema.Error {
	if e.id == nil {
		return nil
	}
	ok := false
	switch e.id[0] {
	case '"':
		text := Text(e.id)
		ok = len(text) <= maxIDBytes && !strings.Contains(text, "\x00")
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		ok = isInteger(e.id)
	}
	if ok {
		return nil
	}
	return invalid(fmt.Sprintf("the member id is neither a string of at most %d bytes without U+0000 nor an integer from 0 to %d", maxIDBytes, uint64(maxID))).
		Hint("leave id out to send a notification")
}

// isInteger reports whether a JSON number has only digits and is at most maxID.
func isInteger(number []byte) bool {
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

// maxEchoBytes limits the id that a refusal repeats.
const maxEchoBytes = 4 << 10

// replyID returns the id for the refusal of a message: its own if that is a string or a number, else null.
func (e *members) replyID() []byte {
	if e.id == nil || e.duplicateID || len(e.id) > maxEchoBytes {
		return Null
	}
	switch e.id[0] {
	case '{', '[', 't', 'f':
		return Null
	}
	return e.id
}

// Null is the id of an answer to a message without a readable id.
var Null = []byte("null")

// Text returns the content of a JSON string, or "" for any other value.
func Text(value []byte) string {
	switch {
	case value[0] != '"':
		return ""
	case bytes.IndexByte(value, '\\') >= 0:
		return string(unescape(value))
	}
	return string(value[1 : len(value)-1])
}

// Key returns the same string for two spellings of one id, such as with and without an escape.
func Key(id []byte) string {
	if id[0] == '"' {
		return `"` + Text(id)
	}
	return string(id)
}

func invalid(what string) *schema.Error { return schema.NewError(schema.InvalidRequest, what) }

// hint guesses the mistake of the sender.
func hint(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")), bytes.IndexByte(data[:min(2, len(data))], 0) >= 0:
		return "this looks like UTF-16; send UTF-8"
	case len(data) >= len(headerName) && bytes.EqualFold(data[:len(headerName)], headerName):
		return "this connection began with lines; keep to one message per line, without headers"
	}
	return "send one JSON value per message, in UTF-8"
}
