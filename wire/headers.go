package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"waybill/internal/safetext"
	"waybill/schema"
)

// nextAfterHeaders reads the headers and body of one message.
func (f *Frames) nextAfterHeaders() (Frame, error) {
	if f.resync {
		if err := f.seek(); err != nil {
			return Frame{}, err
		}
		f.resync = false
	}
	length, bad, err := f.header()
	switch {
	case err != nil:
		return Frame{}, err
	case bad.Fault != nil:
		f.resync = true
		return bad, nil
	case length > int64(f.limit):
		return f.skip(length)
	}
	return f.body(int(length))
}

// header reads the headers of one message. It returns a framing fault as a frame.
func (f *Frames) header() (length int64, bad Frame, err error) {
	length = -1
	for used := 0; ; {
		line, err := f.in.ReadSlice('\n')
		blank := len(bytes.Trim(line, space)) == 0
		if blank && used == 0 && err == nil {
			continue // between two frames
		}
		used += len(line)
		switch {
		case errors.Is(err, io.EOF) && blank && used == len(line):
			return 0, Frame{}, err
		case errors.Is(err, io.EOF):
			return 0, truncated("in the headers", used), nil
		case errors.Is(err, bufio.ErrBufferFull) || used > maxHeaderBytes:
			return 0, framingFault("the headers are longer than %d bytes", maxHeaderBytes), nil
		case err != nil:
			return 0, Frame{}, err
		}
		if blank && length < 0 {
			return 0, framingFault("there is no Content-Length among the headers"), nil
		}
		if blank {
			return length, Frame{}, nil
		}
		if length, bad = contentLength(bytes.Trim(line, space), length); bad.Fault != nil {
			return 0, bad, nil
		}
	}
}

// contentLength returns the length from a header line, or before if it is another header.
func contentLength(line []byte, before int64) (int64, Frame) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(bytes.TrimRight(name, space)) {
		return 0, framingFault("%q is not a header", shown(line))
	}
	if !bytes.EqualFold(bytes.TrimRight(name, space), []byte("Content-Length")) {
		return before, Frame{}
	}
	value = bytes.Trim(value, space)
	n, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil || n == 0 || n > maxSkip {
		return 0, framingFault("Content-Length %q is not a number from 1 to %d", shown(value), int64(maxSkip))
	}
	if before >= 0 && before != int64(n) {
		return 0, framingFault("there are two headers Content-Length, %d and %d", before, n)
	}
	return int64(n), Frame{}
}

// isToken reports whether the text can be the name of a header. A line of JSON has colons too.
func isToken(name []byte) bool {
	for _, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(name) > 0
}

// body reads a message of exactly n bytes. It allocates memory only as bytes arrive.
func (f *Frames) body(n int) (Frame, error) {
	if n <= f.in.Size() {
		text, err := f.in.Peek(n)
		_, _ = f.in.Discard(len(text))
		return bodyFrame(text, n, false, err)
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, f.in, int64(n))
	return bodyFrame(b.Bytes(), n, true, err)
}

func bodyFrame(text []byte, n int, kept bool, err error) (Frame, error) {
	switch {
	case errors.Is(err, io.EOF):
		return truncated(fmt.Sprintf("after %d of %d bytes", len(text), n), len(text)), nil
	case err != nil:
		return Frame{}, err
	}
	return Frame{Body: text, Kept: kept}, nil
}

// skip discards a message of n bytes.
func (f *Frames) skip(n int64) (Frame, error) {
	for left := n; left > 0; {
		skipped, err := f.in.Discard(int(min(left, 1<<30)))
		left -= int64(skipped)
		switch {
		case errors.Is(err, io.EOF):
			return Frame{Fault: tooLarge(f.limit), Partial: int(n - left)}, nil
		case err != nil:
			return Frame{}, err
		}
	}
	return Frame{Fault: tooLarge(f.limit)}, nil
}

// headerName is the text that resync searches for, in any case.
var headerName = []byte("content-length:")

// seek skips the bytes before the next Content-Length, even within a line. A message has no line end, so the rest of a
// broken one runs into the next header.
func (f *Frames) seek() error {
	for {
		if _, err := f.in.Peek(len(headerName)); err != nil {
			return err
		}
		window, _ := f.in.Peek(f.in.Buffered())
		if at := indexHeader(window); at >= 0 {
			_, err := f.in.Discard(at)
			return err
		}
		_, _ = f.in.Discard(len(window) - len(headerName) + 1)
	}
}

// indexHeader returns the index of headerName in the text, or -1.
func indexHeader(text []byte) int {
	for end := 0; ; {
		colon := bytes.IndexByte(text[end:], ':')
		if colon < 0 {
			return -1
		}
		end += colon + 1
		if at := end - len(headerName); at >= 0 && bytes.EqualFold(text[at:end], headerName) {
			return at
		}
	}
}

func framingFault(format string, args ...any) Frame {
	return Frame{Fault: schema.NewError(schema.FramingError, fmt.Sprintf(format, args...)+"; searching for the next header").
		Hint(`begin each message with "Content-Length: N\r\n\r\n", N being its bytes`)}
}

func truncated(where string, bytes int) Frame {
	return Frame{Fault: schema.NewError(schema.FramingError, "the input ended "+where), Partial: bytes}
}

// shown returns the beginning of a text, for an error.
func shown(text []byte) string { return safetext.Truncate(string(text), 80) }
