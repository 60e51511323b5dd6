package web_test

import (
	"bytes"
	"context"
	"net"
	"sync"
)

// A logBuffer is a log that a test can read.
type logBuffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (r *logBuffer) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *logBuffer) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// pipes are a listener without a network.
type pipes struct {
	conns  chan net.Conn // never closed
	once   sync.Once
	closed chan struct{} // closed by Close
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return address(testAddress) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
