package verdict

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deeply JSON may be nested here, as on the wire.
const maxDepth = 128

// A cursor walks over one JSON value that begins somewhere in a text and ends where it ends. The
// standard decoder cannot do that without a copy, hides members that occur twice, and would read far
// beyond a broken value; a text with a thousand broken beginnings must cost no more than any other.
// A method that answers false has stopped where it went wrong.
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

// accept goes over a byte if it is the next one.
func (c *cursor) accept(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.at++
	return true
}

// value goes over a value of any type.
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

// list goes over the entries of an object or array, from the bracket that opens it to the one that
// closes it.
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

// escape goes over an escape sequence but for its last byte.
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

// digits goes over at least one digit.
func (c *cursor) digits() bool {
	start := c.at
	for isDigit(c.peek()) {
		c.at++
	}
	return c.at > start
}

// A node is a JSON value that a cursor has been over, so that nothing about it can be wrong.
type node struct {
	text    string
	at, end int
}

func (v node) raw() string { return v.text[v.at:v.end] }

func (v node) is(first byte) bool { return v.text[v.at] == first }

// mostPerByte is in how many bytes JSON can write one that is kept: two escapes of six, if they are those
// of a line that ends in CR LF.
const mostPerByte = 12

// upTo gives the value of a string. Of one that has more than limit bytes it may be the beginning, with
// more than limit bytes all the same, so that nothing is decoded to be thrown away.
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
		panic("verdict: a string that was valid is not: " + err.Error()) // ours: see cursor.str
	}
	return s
}

// beginning gives a string of about a length, less than its own, that another one begins with.
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

// next goes over the value that the cursor is at.
func (c *cursor) next() node {
	start := c.at
	c.value(0)
	return node{c.text, start, c.at}
}

// members gives the keys and values of an object, with those that occur twice.
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

// entries gives the values of an array.
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
