package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"waybill/schema"
)

// headed reads one message behind its headers.
func (f *Frames) headed() (Frame, error) {
	if f.lost {
		if err := f.seek(); err != nil {
			return Frame{}, err
		}
		f.lost = false
	}
	length, bad, err := f.header()
	switch {
	case err != nil:
		return Frame{}, err
	case bad.Fault != nil:
		f.lost = true
		return bad, nil
	case length > int64(f.limit):
		return f.skip(length)
	}
	return f.body(int(length))
}

// header reads a block of headers. What is wrong with it comes back as a frame.
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
			return 0, cut("in the headers", used), nil
		case errors.Is(err, bufio.ErrBufferFull) || used > maxHeaderBytes:
			return 0, misframed("the headers are longer than %d bytes", maxHeaderBytes), nil
		case err != nil:
			return 0, Frame{}, err
		}
		if blank && length < 0 {
			return 0, misframed("there is no Content-Length among the headers"), nil
		}
		if blank {
			return length, Frame{}, nil
		}
		if length, bad = contentLength(bytes.Trim(line, space), length); bad.Fault != nil {
			return 0, bad, nil
		}
	}
}

// contentLength takes the length from a line of headers, if it has it. Other headers mean nothing.
func contentLength(line []byte, before int64) (int64, Frame) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(bytes.TrimRight(name, space)) {
		return 0, misframed("%q is not a header", Excerpt(line))
	}
	if !bytes.EqualFold(bytes.TrimRight(name, space), []byte("Content-Length")) {
		return before, Frame{}
	}
	value = bytes.Trim(value, space)
	n, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil || n == 0 || n > maxSkip {
		return 0, misframed("Content-Length %q is not a number from 1 to %d", Excerpt(value), int64(maxSkip))
	}
	if before >= 0 && before != int64(n) {
		return 0, misframed("there are two headers Content-Length, %d and %d", before, n)
	}
	return int64(n), Frame{}
}

// isToken reports whether it may be the name of a header. A line of JSON has colons too.
func isToken(name []byte) bool {
	for _, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(name) > 0
}

// body reads a message of exactly n bytes. The length is only believed as far as bytes come in.
func (f *Frames) body(n int) (Frame, error) {
	if n <= f.in.Size() {
		text, err := f.in.Peek(n)
		_, _ = f.in.Discard(len(text))
		return bodied(text, n, false, err)
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, f.in, int64(n))
	return bodied(b.Bytes(), n, true, err)
}

func bodied(text []byte, n int, kept bool, err error) (Frame, error) {
	switch {
	case errors.Is(err, io.EOF):
		return cut(fmt.Sprintf("after %d of %d bytes", len(text), n), len(text)), nil
	case err != nil:
		return Frame{}, err
	}
	return Frame{Body: text, Kept: kept}, nil
}

// skip throws a message of n bytes away.
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

// anchor is what the search for the next header looks for, in any case.
var anchor = []byte("content-length:")

// seek skips what is before the next Content-Length, be it in the middle of a line: a message has no
// line end of its own, so the rest of a broken one runs into the next header.
func (f *Frames) seek() error {
	for {
		if _, err := f.in.Peek(len(anchor)); err != nil {
			return err
		}
		window, _ := f.in.Peek(f.in.Buffered())
		if at := anchored(window); at >= 0 {
			_, err := f.in.Discard(at)
			return err
		}
		_, _ = f.in.Discard(len(window) - len(anchor) + 1)
	}
}

// anchored finds the anchor in the text, or gives -1.
func anchored(text []byte) int {
	for end := 0; ; {
		colon := bytes.IndexByte(text[end:], ':')
		if colon < 0 {
			return -1
		}
		end += colon + 1
		if at := end - len(anchor); at >= 0 && bytes.EqualFold(text[at:end], anchor) {
			return at
		}
	}
}

func misframed(format string, args ...any) Frame {
	return Frame{Fault: schema.NewError(schema.FramingError, fmt.Sprintf(format, args...)+"; looking for the next header").
		Hint(`begin each message with "Content-Length: N\r\n\r\n", N being its bytes`)}
}

func cut(where string, bytes int) Frame {
	return Frame{Fault: schema.NewError(schema.FramingError, "the input ended "+where), Partial: bytes}
}

// Excerpt shortens what is quoted in an error.
func Excerpt(text []byte) []byte { return text[:min(len(text), 80)] }
