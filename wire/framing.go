package wire

import (
	"fmt"
	"strconv"
)

// A Framing is the way in which a stream of bytes is divided into messages.
type Framing uint8

// These are the framings. The zero value detects the framing from the host's first byte.
const (
	Auto    Framing = iota
	Lines           // one message, one line
	Headers         // a block with Content-Length, a blank line, then the message
)

// String returns the name that ParseFraming accepts.
func (f Framing) String() string {
	switch f {
	case Auto:
		return "auto"
	case Lines:
		return "line"
	case Headers:
		return "header"
	}
	return fmt.Sprintf("framing(%d)", uint8(f))
}

// ParseFraming returns the framing with this name, or an error.
func ParseFraming(name string) (Framing, error) {
	for _, f := range []Framing{Auto, Lines, Headers} {
		if f.String() == name {
			return f, nil
		}
	}
	return Auto, fmt.Errorf("framing %q: want auto, line or header", name)
}

// firstBytes maps the first byte of a stream to its framing. Other bytes begin garbage, which is read as lines, so that
// it costs one line and not the session.
var firstBytes = map[byte]Framing{
	'{': Lines, '[': Lines,
	'C': Headers, 'c': Headers,
}

// Append appends a framed message, which may be in pieces, to dst and returns the result. It appends nothing for an empty
// message.
func (f Framing) Append(dst []byte, pieces ...[]byte) []byte {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	if size == 0 {
		return dst
	}
	if f == Headers {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(size), 10)
		dst = append(dst, "\r\n\r\n"...)
	}
	for _, piece := range pieces {
		dst = append(dst, piece...)
	}
	if f != Headers {
		dst = append(dst, '\n')
	}
	return dst
}
