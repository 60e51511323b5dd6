package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// A LineReader reads lines as they are, and lines that are longer than a limit in pieces. Only one goroutine may use it.
type LineReader struct {
	in    *bufio.Reader
	limit int // 0 is none
	buf   []byte
}

// NewLineReader returns a reader of in. A limit of 0 is none.
func NewLineReader(in io.Reader, limit int) *LineReader {
	return &LineReader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// keepBytes is the size up to which a buffer is used again.
const keepBytes = 1 << 20

// Next returns the next line with its end, or a piece of a long one. The bytes are valid until the next call.
func (l *LineReader) Next() (line []byte, whole bool, err error) {
	piece, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return piece, err == nil, err
	}
	if cap(l.buf) > keepBytes {
		l.buf = nil
	}
	l.buf = append(l.buf[:0], piece...)
	for errors.Is(err, bufio.ErrBufferFull) && (l.limit == 0 || len(l.buf) <= l.limit) {
		piece, err = l.in.ReadSlice('\n')
		l.buf = append(l.buf, piece...)
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.buf, false, nil
	}
	return l.buf, err == nil, err
}
