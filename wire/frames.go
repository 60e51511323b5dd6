package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"waybill/schema"
)

const (
	// bufferBytes is the size of the read buffer. A message that fits into it is not copied.
	bufferBytes = 64 << 10
	// maxHeaderBytes limits the headers before one message.
	maxHeaderBytes = 8 << 10
	// maxSkip is the largest Content-Length whose body is skipped. A larger one counts as garbage, and the reader
	// searches for the next header.
	maxSkip = 4 << 30
)

// Frames reads one frame after the other from a stream. It keeps at most one message of at most its limit. Only one
// goroutine may use it.
type Frames struct {
	in        *bufio.Reader
	limit     int
	framing   Framing       // Auto until the first byte is read
	onFraming func(Framing) // called once, when the framing is known
	begun     bool
	resync    bool // the start of the next header is unknown
}

// A Frame is a message, or the fault of its framing.
type Frame struct {
	// Body is the message. Reading the next frame overwrites it unless it is Kept.
	Body []byte
	Kept bool
	// Fault is an error of the framing. Then there is no Body.
	Fault *schema.Error
	// Partial is the number of bytes of a frame within which the stream ended.
	Partial int
}

// NewFrames returns a reader of in for messages of up to limit bytes. The framing is f or, for Auto, that of the
// first byte. Next calls found once, when the framing is known.
func NewFrames(in io.Reader, limit int, f Framing, found func(Framing)) *Frames {
	return &Frames{in: bufio.NewReaderSize(in, bufferBytes), limit: limit, framing: f, onFraming: found}
}

// Next returns the next frame. After an error the stream has ended; the error is io.EOF at its normal end.
func (f *Frames) Next() (Frame, error) {
	if !f.begun {
		if err := f.begin(); err != nil {
			return Frame{}, err
		}
	}
	if f.framing == Headers {
		return f.nextAfterHeaders()
	}
	return f.nextLine()
}

// Buffered reports whether bytes after the last frame are in the buffer.
func (f *Frames) Buffered() bool { return f.in.Buffered() > 0 }

// begin skips a byte order mark and white space before the first frame, and detects the framing.
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
	f.onFraming(f.framing)
	return nil
}

// Resync reports that the last Body was invalid. Its Content-Length may be wrong then, so the reader searches for the
// next header.
func (f *Frames) Resync() { f.resync = true }

// bom is the byte order mark of UTF-8.
const bom = "\xef\xbb\xbf"

// nextLine reads one message from one line. The last line needs no line end.
func (f *Frames) nextLine() (Frame, error) {
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

// longLine reads the rest of a line that does not fit into the buffer. It returns ErrBufferFull if the line exceeds
// the limit.
func (f *Frames) longLine(text []byte) ([]byte, error) {
	for {
		more, err := f.in.ReadSlice('\n')
		if text = append(text, more...); !errors.Is(err, bufio.ErrBufferFull) || len(text) > f.limit+2 {
			return text, err
		}
	}
}

// skipLine discards the rest of a line that is too long.
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
