package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// window is how many requests a host keeps in flight, where it keeps many.
const window = 64

// A host is the client's end of the pipes of one server. It is used by one goroutine at a time: the
// requests that are in flight together fit into a pipe, so that nobody blocks while the other does.
type host struct {
	cmd      *exec.Cmd
	in       *os.File
	out      *os.File
	lines    *bufio.Reader
	requests []byte // scratch
}

// spawn starts the server. It does not wait for anything.
func spawn(b *testing.B, cmd *exec.Cmd) *host {
	b.Helper()
	inR, inW, err := os.Pipe()
	require.NoError(b, err)
	outR, outW, err := os.Pipe()
	require.NoError(b, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	require.NoError(b, cmd.Start())
	require.NoError(b, inR.Close())
	require.NoError(b, outW.Close())
	return &host{cmd: cmd, in: inW, out: outR, lines: bufio.NewReaderSize(outR, 256<<10)}
}

// end lets the server see the end of its input, takes what it still has to say, and waits for it.
func (h *host) end(b *testing.B) {
	b.Helper()
	require.NoError(b, h.in.Close())
	_, err := io.Copy(io.Discard, h.lines)
	require.NoError(b, err)
	require.NoError(b, h.cmd.Wait())
	require.NoError(b, h.out.Close())
}

// connected starts a server that ends with the benchmark.
func connected(b *testing.B, cmd *exec.Cmd) *host {
	h := spawn(b, cmd)
	b.Cleanup(func() { h.end(b) })
	return h
}

// waybill returns the command that serves the workspace and keeps its store below state.
func waybill(workspace, state string) *exec.Cmd {
	cmd := exec.Command(programs.waybill, "serve", "--workspace", workspace)
	cmd.Dir = workspace
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "WAYBILL_LOG=")
	return cmd
}

// spawnServed starts waybill on an empty workspace.
func spawnServed(b *testing.B) *host {
	root := b.TempDir()
	require.NoError(b, os.Mkdir(filepath.Join(root, "work"), 0o700))
	return spawn(b, waybill(filepath.Join(root, "work"), filepath.Join(root, "state")))
}

// served is spawnServed until the end of the benchmark.
func served(b *testing.B) *host {
	h := spawnServed(b)
	b.Cleanup(func() { h.end(b) })
	return h
}

func (h *host) send(text []byte) error {
	_, err := h.in.Write(text)
	return err
}

// line returns the next line, which is valid until the next one is asked for.
func (h *host) line() ([]byte, error) { return h.lines.ReadSlice('\n') }

// notified begins every line that is not an answer.
var notified = []byte(`{"jsonrpc":"2.0","method":`)

// answer returns the next answer, which must be a success, and passes over notifications.
func (h *host) answer() ([]byte, error) {
	for {
		text, err := h.line()
		if err != nil || !bytes.HasPrefix(text, notified) {
			return text, success(text, err)
		}
	}
}

// more returns the next of the answers that have been read already, or nil.
func (h *host) more() ([]byte, error) {
	for h.lines.Buffered() > 0 {
		text, err := h.line()
		if err != nil || !bytes.HasPrefix(text, notified) {
			return text, success(text, err)
		}
	}
	return nil, nil
}

func success(answer []byte, err error) error {
	if err == nil && !bytes.Contains(answer[:min(len(answer), 64)], []byte(`"result":`)) {
		err = fmt.Errorf("not a success: %s", answer)
	}
	return err
}

// call sends a request and returns its answer.
func (h *host) call(b *testing.B, request string) []byte {
	if err := h.send([]byte(request + "\n")); err != nil {
		b.Fatal(err)
	}
	answer, err := h.answer()
	if err != nil {
		b.Fatal(err)
	}
	return answer
}

// member returns the string that an answer has under that name, or "". Ids need no unescaping.
func member(answer []byte, name string) string {
	_, rest, _ := bytes.Cut(answer, []byte(`"`+name+`":"`))
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}
