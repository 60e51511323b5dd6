package wire

import (
	"fmt"

	"waybill/schema"
)

// space is the white space of JSON.
const space = " \t\r\n"

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// A Scanner checks in one pass that a message is unambiguous JSON: well-formed, in UTF-8, without duplicate members,
// and at most schema.MaxDepth levels deep. It builds no values and keeps no message. Only one goroutine may use it;
// the zero value is ready. Its inner methods report whether to continue; if not, fault says why.
type Scanner struct {
	data  []byte
	pos   int
	names nameSet
	// fault is why the rest of the message cannot be read.
	fault *schema.Error
	// refused is why a readable message is not accepted. The scan continues to find its id.
	refused *schema.Error
}

// release drops the references to the message.
func (s *Scanner) release() {
	s.data = nil
	if cap(s.names.all) > 4*maxLinear {
		s.names.all = nil
	} else {
		clear(s.names.all[:cap(s.names.all)])
	}
}

// value reads one value. depth is the level that it opens.
func (s *Scanner) value(depth int) bool {
	switch s.peek() {
	case '{':
		return s.object(depth, nil)
	case '[':
		return s.array(depth)
	case '"':
		_, _, ok := s.text()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number()
	}
	return s.unexpected("a value")
}

// object reads an object and adds its members to e, if e is not nil.
func (s *Scanner) object(depth int, e *members) bool {
	if depth > schema.MaxDepth {
		return s.tooDeep()
	}
	scope := s.names.open()
	defer s.names.close(scope)
	s.pos++
	if s.space(); s.eat('}') {
		return true
	}
	for {
		name, ok := s.name()
		if !ok {
			return false
		}
		fresh := s.names.add(&scope, name)
		if !fresh {
			s.duplicateMember(name)
		}
		if s.space(); !s.eat(':') {
			return s.unexpected("a colon")
		}
		s.space()
		from := s.pos
		if !s.value(depth + 1) {
			return false
		}
		if e != nil {
			e.add(name, s.data[from:s.pos], fresh)
		}
		if s.space(); s.eat('}') {
			return true
		}
		if !s.eat(',') {
			return s.unexpected("a comma or a closing brace")
		}
		s.space()
	}
}

func (s *Scanner) array(depth int) bool {
	if depth > schema.MaxDepth {
		return s.tooDeep()
	}
	return s.elements(func() bool { return s.value(depth + 1) })
}

// elements reads an array; element reads each element.
func (s *Scanner) elements(element func() bool) bool {
	s.pos++
	if s.space(); s.eat(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if s.space(); s.eat(']') {
			return true
		}
		if !s.eat(',') {
			return s.unexpected("a comma or a closing bracket")
		}
		s.space()
	}
}

// tooDeep refuses the message and skips the rest of the value. It needs no stack, because it only counts brackets
// outside strings and does not check that they match.
func (s *Scanner) tooDeep() bool {
	if s.refused == nil {
		s.refused = schema.NewError(schema.NestingTooDeep, fmt.Sprintf("the message is nested more deeply than %d levels at byte %d", schema.MaxDepth, s.pos)).
			With("limit", schema.MaxDepth)
	}
	for open := 0; s.pos < len(s.data); {
		switch s.data[s.pos] {
		case '"':
			if _, _, ok := s.text(); !ok {
				return false
			}
			continue
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		if s.pos++; open == 0 {
			return true
		}
	}
	return s.unexpected("a closing bracket")
}

func (s *Scanner) number() bool {
	s.eat('-')
	if !s.eat('0') && !s.digits() {
		return s.unexpected("a digit")
	}
	if s.eat('.') && !s.digits() {
		return s.unexpected("a digit")
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if !s.eat('+') {
			s.eat('-')
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return true
}

// digits reads all digits and reports whether there is at least one.
func (s *Scanner) digits() bool {
	from := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > from
}

func (s *Scanner) word(w string) bool {
	for i := range len(w) {
		if !s.eat(w[i]) {
			return s.unexpected(w)
		}
	}
	return true
}

// peek returns the next byte, or 0 at the end. No valid message has a 0 at these places.
func (s *Scanner) peek() byte {
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

func (s *Scanner) eat(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *Scanner) space() {
	for s.pos < len(s.data) && isSpace(s.data[s.pos]) {
		s.pos++
	}
}

// unexpected ends the scan with an error that names the expected text.
func (s *Scanner) unexpected(wanted string) bool {
	found := "the message ends"
	if s.pos < len(s.data) {
		found = fmt.Sprintf("there is %q", s.data[s.pos])
	}
	s.fault = schema.NewError(schema.ParseError, fmt.Sprintf("not JSON: %s at byte %d where %s should be", found, s.pos, wanted)).
		With("byte", s.pos)
	return false
}

// invalidText ends the scan with an error about a string that is not valid text.
func (s *Scanner) invalidText(what string) bool {
	s.fault = schema.NewError(schema.InvalidUTF8, fmt.Sprintf("%s at byte %d", what, s.pos)).With("byte", s.pos)
	return false
}

func (s *Scanner) duplicateMember(name []byte) {
	if s.refused == nil {
		s.refused = schema.NewError(schema.DuplicateKey, fmt.Sprintf("the member %q occurs twice in one object, before byte %d", shown(name), s.pos)).
			Hint("send each member once")
	}
}
