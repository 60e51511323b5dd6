package wire

import (
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"
)

// name reads the name of a member, without its quotes and escapes.
func (s *Scanner) name() ([]byte, bool) {
	if s.peek() != '"' {
		return nil, s.unexpected("a member's name in quotes")
	}
	from := s.pos
	text, escaped, ok := s.text()
	if ok && escaped {
		text = unescape(s.data[from:s.pos])
	}
	return text, ok
}

// unescape gives the content of a string that was read without a fault.
func unescape(quoted []byte) []byte {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("wire: a string passed the scanner and is none: " + err.Error())
	}
	return []byte(text)
}

// ordinary reports whether a byte of a string is one character that stands for itself.
func ordinary(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// ordinary8 reports whether eight bytes are ordinary. It may say no although they are, and then they
// are looked at one by one: a borrow between the bytes can only make it more careful.
func ordinary8(eight uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^each*'"', eight^each*'\\'
	odd := eight | (eight - each*' ') | (quote-each)&^quote | (backslash-each)&^backslash
	return odd&high == 0
}

// text reads a string and gives what is between the quotes.
func (s *Scanner) text() (content []byte, escaped, ok bool) {
	s.pos++
	from := s.pos
	for s.pos < len(s.data) {
		for len(s.data)-s.pos >= 8 && ordinary8(binary.LittleEndian.Uint64(s.data[s.pos:])) {
			s.pos += 8
		}
		c := s.peek()
		switch {
		case ordinary(c):
			s.pos++
		case c == '"':
			s.pos++
			return s.data[from : s.pos-1], escaped, true
		case c == '\\':
			escaped = true
			if !s.escape() {
				return nil, false, false
			}
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && size == 1 {
				return nil, false, s.garbled("there is a byte that is not UTF-8")
			}
			s.pos += size
		default:
			return nil, false, s.unexpected("an escape, not a control character,")
		}
	}
	return nil, false, s.unexpected("the end of a string")
}

// escape reads one escape, or two that are the halves of one character.
func (s *Scanner) escape() bool {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return true
	case 'u':
	default:
		return s.unexpected("an escape")
	}
	r, ok := s.hex()
	if !ok {
		return s.unexpected("four hexadecimal digits")
	}
	switch {
	case r >= 0xdc00 && r <= 0xdfff:
		return s.garbled("there is the second half of a surrogate pair without the first")
	case r < 0xd800 || r > 0xdbff:
		return true
	}
	if !s.eat('\\') || s.peek() != 'u' {
		return s.garbled("there is the first half of a surrogate pair without the second")
	}
	if r, ok = s.hex(); ok && r >= 0xdc00 && r <= 0xdfff {
		return true
	}
	return s.garbled("there is the first half of a surrogate pair without the second")
}

// hex reads the digits after a u.
func (s *Scanner) hex() (r rune, ok bool) {
	s.pos++
	for range 4 {
		c := s.peek()
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
		s.pos++
	}
	return r, true
}
