package wire

import (
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"
)

// name reads the name of a member and returns it without quotes and escapes.
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

// unescape returns the content of a valid JSON string.
func unescape(quoted []byte) []byte {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		panic("wire: a string passed the scanner and is none: " + err.Error())
	}
	return []byte(text)
}

// isPlain reports whether a byte of a string is an ASCII character that needs no escape.
func isPlain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// arePlain8 reports whether eight bytes are plain. It may report false for plain bytes, because of a borrow between
// them; the caller then checks them one by one.
func arePlain8(eight uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^each*'"', eight^each*'\\'
	odd := eight | (eight - each*' ') | (quote-each)&^quote | (backslash-each)&^backslash
	return odd&high == 0
}

// text reads a string and returns the bytes between its quotes.
func (s *Scanner) text() (content []byte, escaped, ok bool) {
	s.pos++
	from := s.pos
	for s.pos < len(s.data) {
		for len(s.data)-s.pos >= 8 && arePlain8(binary.LittleEndian.Uint64(s.data[s.pos:])) {
			s.pos += 8
		}
		c := s.peek()
		switch {
		case isPlain(c):
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
				return nil, false, s.invalidText("there is a byte that is not UTF-8")
			}
			s.pos += size
		default:
			return nil, false, s.unexpected("an escape, not a control character,")
		}
	}
	return nil, false, s.unexpected("the end of a string")
}

// escape reads one escape, or two that form a surrogate pair.
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
		return s.invalidText("there is the second half of a surrogate pair without the first")
	case r < 0xd800 || r > 0xdbff:
		return true
	}
	if !s.eat('\\') || s.peek() != 'u' {
		return s.invalidText("there is the first half of a surrogate pair without the second")
	}
	if r, ok = s.hex(); ok && r >= 0xdc00 && r <= 0xdfff {
		return true
	}
	return s.invalidText("there is the first half of a surrogate pair without the second")
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
