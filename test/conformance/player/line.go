package player

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
)

// A line is a connection to a server, in one of the framings.
type line struct {
	peer    *Peer
	framing string
	heard   chan heard // closed by the reader, after the last message
}

// heard is a message, or the reason of the end.
type heard struct {
	message []byte
	err     error
}

// dial starts a reader of the server's output, so that the server never blocks. The reader ends with the output or
// with ctx.
func dial(ctx context.Context, peer *Peer, framing string) *line {
	l := &line{peer: peer, framing: framing, heard: make(chan heard, 64)}
	go l.read(ctx)
	return l
}

func (l *line) read(ctx context.Context) {
	defer close(l.heard)
	r := bufio.NewReader(l.peer.Out)
	for {
		message, err := l.unframe(r)
		select {
		case l.heard <- heard{message, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// unframe reads one message strictly: one line, or one header and the counted bytes.
func (l *line) unframe(r *bufio.Reader) ([]byte, error) {
	if l.framing != "header" {
		text, err := r.ReadBytes('\n')
		if err == io.EOF && len(text) > 0 {
			return nil, fmt.Errorf("the last line has no end: %q", text)
		}
		if err != nil {
			return nil, err
		}
		return text[:len(text)-1], nil
	}
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, fmt.Errorf("the header of an answer: %w", err)
	}
	if n < 0 {
		return nil, fmt.Errorf("the header of an answer: its length is %d", n)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r, body)
	return body, err
}

// receive returns the next message, and io.EOF after the last.
func (l *line) receive(ctx context.Context) ([]byte, error) {
	select {
	case h, more := <-l.heard:
		if !more {
			return nil, io.EOF
		}
		return h.message, h.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// send writes a message in a frame, or bytes unchanged. It stops when ctx ends.
func (l *line) send(ctx context.Context, text []byte, framed bool) error {
	switch {
	case framed && l.framing == "header":
		text = append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(text)), text...)
	case framed:
		text = append(text, '\n')
	}
	sent := make(chan error, 1)
	go func() { // ends when the server takes the bytes, or is gone
		_, err := l.peer.In.Write(text)
		sent <- err
	}()
	select {
	case err := <-sent:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends the input of the server.
func (l *line) close() error { return l.peer.In.Close() }
