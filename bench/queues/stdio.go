package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// A host is a client of a server over pipes, which makes many calls concurrently.
type host struct {
	cmd *exec.Cmd
	in  *os.File

	mu      sync.Mutex // guards all below
	waiting map[int]chan []byte
	last    int    // id of a request
	unsent  []byte // requests for the next write
	writing bool
	gone    error // why no more answers come

	read chan struct{} // closed when everything is read
}

// answerBytes exceeds the longest answer.
const answerBytes = 1 << 20

// startHost starts the server without waiting for it.
func startHost(cmd *exec.Cmd) (*host, error) {
	in, out, err := pipes(cmd)
	if err != nil {
		return nil, err
	}
	h := &host{cmd: cmd, in: in, waiting: map[int]chan []byte{}, read: make(chan struct{})}
	go h.listen(out) // ends with the output of the server
	return h, nil
}

// pipes starts a program, and returns the parent's ends of its input and output.
func pipes(cmd *exec.Cmd) (in, out *os.File, err error) {
	inR, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, inR.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = inR, outW
	err = errors.Join(cmd.Start(), inR.Close(), outW.Close())
	if err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	return in, out, nil
}

// notified is the beginning of every notification.
var notified = []byte(`{"jsonrpc":"2.0","method":`)

// idAt is the offset of the id in an answer.
const idAt = len(`{"jsonrpc":"2.0","id":`)

// listen passes every answer to its caller.
func (h *host) listen(out *os.File) {
	defer close(h.read)
	lines := bufio.NewReaderSize(out, answerBytes)
	var err error
	for err == nil {
		var line []byte
		if line, err = lines.ReadSlice('\n'); err == nil && !bytes.HasPrefix(line, notified) {
			err = h.deliver(line)
		}
	}
	if !errors.Is(err, io.EOF) {
		_, _ = io.Copy(io.Discard, lines) // a server that cannot write would not end
	}
	err = errors.Join(err, out.Close())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = err
	for _, answer := range h.waiting {
		close(answer)
	}
	h.waiting = nil
}

func (h *host) deliver(line []byte) error {
	text, _, _ := bytes.Cut(line[min(idAt, len(line)):], []byte(","))
	id, err := strconv.Atoi(string(text))
	if err != nil {
		return fmt.Errorf("an answer to nothing: %s", line)
	}
	h.mu.Lock()
	answer := h.waiting[id]
	delete(h.waiting, id)
	h.mu.Unlock()
	if answer == nil {
		return fmt.Errorf("an answer to nothing: %s", line)
	}
	answer <- bytes.Clone(line)
	return nil
}

// errCancelled says that a call was cancelled without effect.
var errCancelled = errors.New("the call was cancelled")

// call makes a call and returns its answer, or an error for a failed call. When ctx ends, it cancels the call and
// waits for the outcome.
func (h *host) call(ctx context.Context, method, params string) ([]byte, error) {
	id, answered, err := h.ask(method, params)
	if err != nil {
		return nil, err
	}
	var answer []byte
	select {
	case answer = <-answered:
	case <-ctx.Done():
		if err := h.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`+"\n", id)); err != nil {
			return nil, err
		}
		answer = <-answered
	}
	return answer, h.judge(answer)
}

func (h *host) judge(answer []byte) error {
	begin := answer[:min(len(answer), 64)]
	switch {
	case answer == nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		return fmt.Errorf("the server has gone: %w", h.gone)
	case bytes.Contains(begin, []byte(`"result":`)):
		return nil
	case bytes.Contains(begin, []byte(`"code":-32800`)):
		return errCancelled
	}
	return fmt.Errorf("not a success: %s", answer)
}

// ask sends a request, and returns the channel for its answer, which is closed if no answer comes.
func (h *host) ask(method, params string) (id int, answered chan []byte, err error) {
	answered = make(chan []byte, 1)
	h.mu.Lock()
	if h.waiting == nil {
		defer h.mu.Unlock()
		return 0, nil, fmt.Errorf("the server has gone: %w", h.gone)
	}
	h.last++
	id = h.last
	h.waiting[id] = answered
	h.mu.Unlock()
	return id, answered, h.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params))
}

// send writes a line. Lines sent during a write are queued and written together by the writing goroutine.
func (h *host) send(line []byte) error {
	h.mu.Lock()
	h.unsent = append(h.unsent, line...)
	if h.writing {
		h.mu.Unlock()
		return nil // a failure to write them ends the answers too
	}
	h.writing = true
	var err error
	for len(h.unsent) > 0 && err == nil {
		lines := h.unsent
		h.unsent = nil
		h.mu.Unlock()
		_, err = h.in.Write(lines)
		h.mu.Lock()
	}
	h.writing = false
	h.mu.Unlock()
	return err
}

// end closes the server's input, reads its remaining output, and waits for its end.
func (h *host) end() error {
	err := h.in.Close()
	<-h.read
	return errors.Join(err, h.cmd.Wait())
}

// member returns the first string member with that name in an answer, or "". It unescapes nothing.
func member(answer []byte, name string) string {
	_, rest, _ := bytes.Cut(answer, []byte(`"`+name+`":"`))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}
