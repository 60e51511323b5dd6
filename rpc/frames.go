package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"waybill/schema"
)

const (
	// bufferBytes is what is read ahead. A message that fits into it is not copied to be read.
	bufferBytes = 64 << 10
	// maxHeaderBytes bounds the block of headers before one message.
	maxHeaderBytes = 8 << 10
	// maxSkip is the largest Content-Length that is believed enough to skip so many bytes. What is
	// beyond it is garbage, and the next header is looked for instead.
	maxSkip = 4 << 30
)

// A frames reads one frame after the other from a stream. It keeps no more than one message of at
// most limit bytes, whatever comes in.
type frames struct {
	in      *bufio.Reader
	limit   int
	framing Framing       // Auto until the first byte was seen
	found   func(Framing) // called once, when the framing is known
	begun   bool
	lost    bool // where the next header begins is not known
}

// A frame is what was between two borders: a message, or what was wrong with the border.
type frame struct {
	// body is overwritten when the next frame is read, unless it is kept.
	body  []byte
	kept  bool
	fault *schema.Error
	// partial counts the bytes of a frame in which the stream ended.
	partial int
}

func newFrames(in io.Reader, limit int, f Framing, found func(Framing)) *frames {
	return &frames{in: bufio.NewReaderSize(in, bufferBytes), limit: limit, framing: f, found: found}
}

// next gives the next frame. An error ends the stream, and is io.EOF at its proper end.
func (f *frames) next() (frame, error) {
	if !f.begun {
		if err := f.begin(); err != nil {
			return frame{}, err
		}
	}
	if f.framing == Headers {
		return f.headed()
	}
	return f.line()
}

// begin skips what may stand before the first frame and decides on the framing.
func (f *frames) begin() error {
	first, err := f.in.Peek(1)
	if err != nil {
		return err
	}
	if first[0] == bom[0] {
		if head, _ := f.in.Peek(len(bom)); string(head) == bom {
			_, _ = f.in.Discard(len(bom))
		}
	}
	for {
		if first, err = f.in.Peek(1); err != nil {
			return err
		}
		if !isSpace(first[0]) {
			break
		}
		_, _ = f.in.Discard(1)
	}
	if f.framing == Auto {
		if f.framing = firstBytes[first[0]]; f.framing == Auto {
			f.framing = Lines
		}
	}
	f.begun = true
	f.found(f.framing)
	return nil
}

// bom is the byte order mark of UTF-8.
const bom = "\xef\xbb\xbf"

// line reads one message from one line. The last line may do without its end.
func (f *frames) line() (frame, error) {
	for {
		text, err := f.in.ReadSlice('\n')
		kept := false
		if errors.Is(err, bufio.ErrBufferFull) && len(text) <= f.limit {
			kept = true
			text, err = f.longLine(bytes.Clone(text))
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return f.skipLine(len(text))
		}
		body := bytes.Trim(text, space)
		switch {
		case len(body) > f.limit:
			return frame{fault: tooLarge(f.limit)}, nil
		case len(body) > 0 && err == nil:
			return frame{body: body, kept: kept}, nil
		case len(body) > 0 && errors.Is(err, io.EOF):
			return frame{body: body, kept: kept, partial: len(text)}, nil
		case err != nil:
			return frame{}, err
		}
	}
}

// longLine reads on in a line that does not fit into the buffer. It stops with ErrBufferFull where
// the line gets longer than a message may be.
func (f *frames) longLine(text []byte) ([]byte, error) {
	for {
		more, err := f.in.ReadSlice('\n')
		if text = append(text, more...); !errors.Is(err, bufio.ErrBufferFull) || len(text) > f.limit+2 {
			return text, err
		}
	}
}

// skipLine throws the rest of a line away that is too long already.
func (f *frames) skipLine(read int) (frame, error) {
	for {
		more, err := f.in.ReadSlice('\n')
		read += len(more)
		switch {
		case err == nil:
			return frame{fault: tooLarge(f.limit)}, nil
		case errors.Is(err, io.EOF):
			return frame{fault: tooLarge(f.limit), partial: read}, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return frame{}, err
		}
	}
}

func tooLarge(limit int) *schema.Error {
	return schema.NewError(schema.MessageTooLarge, "the message is larger than the limit; it was skipped").
		With("limit", limit).
		Hint("send less in one message")
}
