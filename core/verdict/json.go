package verdict

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// maxDepth is the deepest nesting of JSON, the same as on the wire.
const maxDepth = 128

// A cursor reads one JSON value inside a text, without a copy. The standard decoder needs a copy, hides repeated
// members, and reads far beyond an error. A method that returns false has stopped at the error.
type cursor struct {
	text string
	at   int
}

func (c *cursor) peek() byte {
	if c.at < len(c.text) {
		return c.text[c.at]
	}
	return 0
}

func (c *cursor) space() {
	for c.at < len(c.text) && strings.IndexByte(" \t\r\n", c.text[c.at]) >= 0 {
		c.at++
	}
}

// accept skips a byte if it is the next one.
func (c *cursor) accept(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.at++
	return true
}

// value skips a value of any type.
func (c *cursor) value(depth int) bool {
	switch b := c.peek(); b {
	case '{':
		return depth < maxDepth && c.list('}', func() bool { return c.member(depth + 1) })
	case '[':
		return depth < maxDepth && c.list(']', func() bool { return c.value(depth + 1) })
	case '"':
		return c.str()
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

// list skips the entries of an object or array, from the opening bracket to the closing one.
func (c *cursor) list(closing byte, entry func() bool) bool {
	c.at++
	c.space()
	if c.accept(closing) {
		return true
	}
	for {
		if !entry() {
			return false
		}
		c.space()
		if c.accept(closing) {
			return true
		}
		if !c.accept(',') {
			return false
		}
		c.space()
	}
}

func (c *cursor) member(depth int) bool {
	if c.peek() != '"' || !c.str() {
		return false
	}
	c.space()
	if !c.accept(':') {
		return false
	}
	c.space()
	return c.value(depth)
}

func (c *cursor) str() bool {
	for c.at++; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; {
		case b == '"':
			c.at++
			return true
		case b < ' ':
			return false
		case b == '\\':
			if !c.escape() {
				return false
			}
		}
	}
	return false
}

// escape skips an escape sequence but for its last byte.
func (c *cursor) escape() bool {
	c.at++
	if c.peek() != 'u' {
		return c.at < len(c.text) && strings.IndexByte(`"\/bfnrt`, c.text[c.at]) >= 0
	}
	for range 4 {
		c.at++
		if !isHex(c.peek()) {
			return false
		}
	}
	return true
}

func isHex(b byte) bool { return isDigit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func (c *cursor) word(w string) bool {
	if !strings.HasPrefix(c.text[c.at:], w) {
		return false
	}
	c.at += len(w)
	return true
}

func (c *cursor) number() bool {
	c.accept('-')
	if !c.accept('0') && !c.digits() {
		return false
	}
	if c.accept('.') && !c.digits() {
		return false
	}
	if c.peek()|0x20 == 'e' {
		c.at++
		if !c.accept('+') {
			c.accept('-')
		}
		return c.digits()
	}
	return true
}

// digits skips at least one digit.
func (c *cursor) digits() bool {
	start := c.at
	for isDigit(c.peek()) {
		c.at++
	}
	return c.at > start
}

// A node is a JSON value that a cursor has found to be valid.
type node struct {
	text    string
	at, end int
}

func (v node) raw() string { return v.text[v.at:v.end] }

func (v node) is(first byte) bool { return v.text[v.at] == first }

// mostPerByte is the largest number of JSON bytes for one decoded byte: two escapes of six bytes for CR LF.
const mostPerByte = 12

// upTo returns the value of a string. For more than limit bytes it may return only the beginning, of more than limit
// bytes, so that it decodes no more than needed.
func (v node) upTo(limit int) string {
	quoted := v.raw()
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	if most := mostPerByte * (limit + utf8.UTFMax); len(quoted) > most {
		quoted = beginning(quoted, most)
	}
	var s string
	if err := json.Unmarshal([]byte(quoted), &s); err != nil {
		panic("verdict: a string that was valid is not: " + err.Error()) // cursor.str has accepted it
	}
	return s
}

// beginning returns a valid string of about that length with the beginning of another one.
func beginning(quoted string, length int) string {
	c := cursor{quoted, 1}
	for c.at < length {
		if c.peek() == '\\' {
			c.escape()
		}
		c.at++
	}
	for !utf8.RuneStart(c.peek()) {
		c.at++
	}
	return quoted[:c.at] + `"`
}

// next skips the value at the cursor, and returns it.
func (c *cursor) next() node {
	start := c.at
	c.value(0)
	return node{c.text, start, c.at}
}

// members returns the keys and values of an object, repeated keys included.
func (v node) members() iter.Seq2[node, node] {
	return func(yield func(key, value node) bool) {
		c := cursor{v.text, v.at + 1}
		for c.space(); c.peek() != '}'; c.space() {
			key := c.next()
			c.space()
			c.at++ // the colon
			c.space()
			if value := c.next(); !yield(key, value) {
				return
			}
			c.space()
			c.accept(',')
		}
	}
}

// entries returns the values of an array.
func (v node) entries() iter.Seq[node] {
	return func(yield func(node) bool) {
		c := cursor{v.text, v.at + 1}
		for c.space(); c.peek() != ']'; c.space() {
			if !yield(c.next()) {
				return
			}
			c.space()
			c.accept(',')
		}
	}
}
