package wire

import (
	"fmt"
	"strconv"
)

// A Framing says how messages are told apart in a stream of bytes.
type Framing uint8

// The framings. The zero value takes what the host's first byte says.
const (
	Auto    Framing = iota
	Lines           // one message, one line
	Headers         // a block with Content-Length, a blank line, then the message
)

// String gives the name that ParseFraming reads.
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

// ParseFraming reads the name of a framing and refuses any other word.
func ParseFraming(name string) (Framing, error) {
	for _, f := range []Framing{Auto, Lines, Headers} {
		if f.String() == name {
			return f, nil
		}
	}
	return Auto, fmt.Errorf("framing %q: want auto, line or header", name)
}

// firstBytes says which framing begins with a byte. Every byte that is not here begins garbage, which
// is read as lines, so that it costs one line and not the session.
var firstBytes = map[byte]Framing{
	'{': Lines, '[': Lines,
	'C': Headers, 'c': Headers,
}

// Append puts a message into its frame, behind dst, and gives what dst became. No message needs no frame.
func (f Framing) Append(dst, message []byte) []byte {
	if len(message) == 0 {
		return dst
	}
	if f != Headers {
		return append(append(dst, message...), '\n')
	}
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(message)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, message...)
}
