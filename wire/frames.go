package wire

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

// A Frames reads one frame after the other from a stream. It keeps no more than one message of at most
// its limit, whatever comes in. It is for one goroutine.
type Frames struct {
	in      *bufio.Reader
	limit   int
	framing Framing       // Auto until the first byte was seen
	found   func(Framing) // called once, when the framing is known
	begun   bool
	lost    bool // where the next header begins is not known
}

// A Frame is what was between two borders: a message, or what was wrong with the border.
type Frame struct {
	// Body is the message. It is overwritten when the next frame is read, unless it is Kept.
	Body []byte
	Kept bool
	// Fault is what was wrong with the border; then there is no Body.
	Fault *schema.Error
	// Partial counts the bytes of a frame in which the stream ended.
	Partial int
}

// NewFrames gives a reader of in that takes messages of up to limit bytes, in the framing f or in the one
// that the first byte says. found is called by Next, once, when the framing is known.
func NewFrames(in io.Reader, limit int, f Framing, found func(Framing)) *Frames {
	return &Frames{in: bufio.NewReaderSize(in, bufferBytes), limit: limit, framing: f, found: found}
}

// Next gives the next frame. An error ends the stream, and is io.EOF at its proper end.
func (f *Frames) Next() (Frame, error) {
	if !f.begun {
		if err := f.begin(); err != nil {
			return Frame{}, err
		}
	}
	if f.framing == Headers {
		return f.headed()
	}
	return f.line()
}

// Buffered reports whether something was read of what comes after the last frame.
func (f *Frames) Buffered() bool { return f.in.Buffered() > 0 }

// begin skips what may stand before the first frame and decides on the framing.
func (f *Frames) begin() error {
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

// Lose says that the last Body was not what it should be. Behind headers it may have been measured wrongly
// then, so the next one is looked for.
func (f *Frames) Lose() { f.lost = true }

// bom is the byte order mark of UTF-8.
const bom = "\xef\xbb\xbf"

// line reads one message from one line. The last line may do without its end.
func (f *Frames) line() (Frame, error) {
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
			return Frame{Fault: tooLarge(f.limit)}, nil
		case len(body) > 0 && err == nil:
			return Frame{Body: body, Kept: kept}, nil
		case len(body) > 0 && errors.Is(err, io.EOF):
			return Frame{Body: body, Kept: kept, Partial: len(text)}, nil
		case err != nil:
			return Frame{}, err
		}
	}
}

// longLine reads on in a line that does not fit into the buffer. It stops with ErrBufferFull where
// the line gets longer than a message may be.
func (f *Frames) longLine(text []byte) ([]byte, error) {
	for {
		more, err := f.in.ReadSlice('\n')
		if text = append(text, more...); !errors.Is(err, bufio.ErrBufferFull) || len(text) > f.limit+2 {
			return text, err
		}
	}
}

// skipLine throws the rest of a line away that is too long already.
func (f *Frames) skipLine(read int) (Frame, error) {
	for {
		more, err := f.in.ReadSlice('\n')
		read += len(more)
		switch {
		case err == nil:
			return Frame{Fault: tooLarge(f.limit)}, nil
		case errors.Is(err, io.EOF):
			return Frame{Fault: tooLarge(f.limit), Partial: read}, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return Frame{}, err
		}
	}
}

func tooLarge(limit int) *schema.Error {
	return schema.NewError(schema.MessageTooLarge, "the message is larger than the limit; it was skipped").
		With("limit", limit).
		Hint("send less in one message")
}
