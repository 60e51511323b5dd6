//go:build unix

package supervise_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/mcp/supervise"
)

// startOnPipe starts a worker whose input is a pipe of the system. The read end stays open after its death, as that of a
// real one does, so that a write to the dead worker gets no error.
func (s *scene) startOnPipe() (*supervise.Worker, error) {
	input, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w, p := s.play()
	p.in, w.In = bufio.NewReader(input), in
	w.Unread = func() int {
		left, _ := io.ReadAll(input)
		_ = input.Close()
		return bytes.Count(left, []byte("\n"))
	}
	s.workers <- p
	return w, nil
}

func (s *scene) next() *played {
	s.t.Helper()
	select {
	case w := <-s.workers:
		return w
	case <-time.After(10 * time.Second):
		require.FailNow(s.t, "no worker is started")
		return nil
	}
}

// The pipe takes only a part of the line, so that the write lasts until the worker reads or the pipe is closed.
func TestWorkerThatDiesWithinALongRepeatedLineIsReplaced(t *testing.T) {
	s := newSceneWith(t, (*scene).startOnPipe, "read_me")
	go func() { _, _ = io.Copy(io.Discard, s.toHost) }() // ends with Run
	w := s.next()
	s.says(request(1, "read_me", `"text":"`+strings.Repeat("x", 100<<10)+`"`))
	w.hears("read_me")
	w.exit(-1, "signal: killed")
	w = s.next()
	w.hears("state")
	w.exit(-1, "signal: killed")
	w = s.next()
	w.hears("state")
	require.NoError(t, s.in.Close())
	_, err := io.Copy(io.Discard, w.in)
	require.NoError(t, err)
	w.exit(0, "")
	require.NoError(t, <-s.exit)
}
