//go:build unix

package page_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A yard is a workspace and a place for state, for programs that run by themselves.
type yard struct {
	t                *testing.T
	workspace, state string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	w := &yard{t: t, workspace: filepath.Join(t.TempDir(), "work"), state: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(w.workspace, ".git"), 0o755))
	return w
}

// command returns the real program, in the yard, where there is no display.
func (w *yard) command(args ...string) *exec.Cmd {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.CommandContext(w.t.Context(), self, args...)
	cmd.Dir = w.workspace
	// The race detector would sleep for a second at each exit.
	cmd.Env = append(os.Environ(), asWaybill+"=1", "XDG_STATE_HOME="+w.state, "XDG_CONFIG_HOME="+w.state+".config", "XDG_CACHE_HOME="+w.state+".cache",
		"DISPLAY=", "WAYLAND_DISPLAY=", "GORACE=atexit_sleep_ms=0")
	cmd.WaitDelay = patience
	return cmd
}

// says runs the program until it ends by itself, with success, and returns what it said.
func (w *yard) says(args ...string) string {
	w.t.Helper()
	cmd := w.command(args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(w.t, err, "%v: %s", args, &errs)
	return strings.TrimSpace(string(out))
}

// link returns an address that lets one browser in at the running host.
func (w *yard) link() string {
	w.t.Helper()
	return w.says("ui", "--no-browser")
}

// A doorplate is what the port file says.
type doorplate struct {
	path  string // of the file
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

func (w *yard) doorplate() doorplate {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.state, "waybill", "*", "http.json"))
	require.NoError(w.t, err)
	require.Len(w.t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(w.t, err)
	plate := doorplate{path: found[0]}
	require.NoError(w.t, json.Unmarshal(text, &plate))
	return plate
}

// A process is the running program, with our ends of its pipes.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	pipe *os.File // what it says
	out  *bufio.Reader
	errs *bytes.Buffer // may be read once it has ended
}

func (w *yard) start(cmd *exec.Cmd) *process {
	w.t.Helper()
	p := &process{t: w.t, cmd: cmd, errs: new(bytes.Buffer)}
	cmd.Stderr = p.errs
	var err error
	p.in, err = cmd.StdinPipe()
	require.NoError(w.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	p.pipe = out.(*os.File)
	p.out = bufio.NewReader(out)
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return p
}

// line reads the next line that the program says.
func (p *process) line() []byte {
	p.t.Helper()
	require.NoError(p.t, p.pipe.SetReadDeadline(time.Now().Add(patience)))
	line, err := p.out.ReadBytes('\n')
	require.NoError(p.t, err)
	return line
}

// end waits for the program to end, and returns its exit code; -1 is that of one that was killed.
func (p *process) end() int {
	p.t.Helper()
	require.NoError(p.t, p.pipe.SetReadDeadline(time.Now().Add(patience)))
	_, err := io.Copy(io.Discard, p.out)
	require.NoError(p.t, err, "the program does not end")
	_ = p.cmd.Wait() // the code says what there is to say
	return p.cmd.ProcessState.ExitCode()
}

// A host talks to the real program over its standard input and output.
type host struct {
	*process
	calls int
	notes []note // what was heard and not asked for yet
}

type note struct {
	Method string
	Params json.RawMessage
}

// serve starts a host with a front door for the page, at an address or at any, and waits until it is open.
func (w *yard) serve(address string) *host {
	w.t.Helper()
	door := "--http"
	if address != "" {
		door += "=" + address
	}
	return w.host(door)
}

// host starts a host and waits until everything is as it should be.
func (w *yard) host(flags ...string) *host {
	w.t.Helper()
	h := &host{process: w.start(w.command(append([]string{"serve"}, flags...)...))}
	require.Empty(w.t, h.call("get_status", nil)["degraded"])
	return h
}

// call sends a request that is to succeed, and returns its result. Notifications in between are kept.
func (h *host) call(method string, params map[string]any) map[string]any {
	h.t.Helper()
	h.calls++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": h.calls, "method": method, "params": params})
	require.NoError(h.t, err)
	_, err = h.in.Write(append(text, '\n'))
	require.NoError(h.t, err)
	for {
		var said struct {
			note
			ID     int
			Result map[string]any
			Error  json.RawMessage
		}
		line := h.line()
		require.NoError(h.t, json.Unmarshal(line, &said), "%s", line)
		if said.ID == 0 {
			h.notes = append(h.notes, said.note)
			continue
		}
		require.Equal(h.t, h.calls, said.ID)
		require.Empty(h.t, said.Error, method)
		return said.Result
	}
}

// hears waits for a notification of that kind that has all the words. What came before it is forgotten.
func (h *host) hears(method string, words ...string) {
	h.t.Helper()
	for {
		var n note
		if len(h.notes) > 0 {
			n, h.notes = h.notes[0], h.notes[1:]
		} else {
			require.NoError(h.t, json.Unmarshal(h.line(), &n))
		}
		fits := n.Method == method
		for _, word := range words {
			fits = fits && strings.Contains(string(n.Params), word)
		}
		if fits {
			return
		}
	}
}

// A claim is what a worker has in hand.
type claim struct{ task, lease, prompt string }

// claims has a worker take the next task.
func (h *host) claims() claim {
	h.t.Helper()
	got, ok := h.call("claim_task", map[string]any{"worker": "w1", "lease_ms": 3600000})["claim"].(map[string]any)
	require.True(h.t, ok, "no task can be claimed")
	return claim{
		got["task"].(map[string]any)["task_id"].(string), got["lease"].(map[string]any)["token"].(string), got["prompt"].(string),
	}
}

// finish reports how an attempt ended.
func (h *host) finish(c claim, status string, more map[string]any) {
	h.t.Helper()
	params := map[string]any{"task_id": c.task, "lease_token": c.lease, "status": status}
	for name, value := range more {
		params[name] = value
	}
	require.Equal(h.t, true, h.call("finish_attempt", params)["applied"])
}

// asks has an agent begin a task and ask something.
func (h *host) asks(description, question string) (id string) {
	h.t.Helper()
	h.call("create_task", map[string]any{"prompt": "Do it: " + description, "description": description})
	c := h.claims()
	h.finish(c, "awaiting_response", map[string]any{"output": "So far: half of it.", "question": question})
	h.hears("task/awaiting_response", c.task)
	return c.task
}

// An answer is what a person has said to a task.
type answer struct{ reply, by string }

// answers returns the answers that a task was given, and its status.
func (h *host) answers(id string) (given []answer, status string) {
	h.t.Helper()
	detail := h.call("get_task", map[string]any{"task_id": id})
	for _, one := range detail["replies"].([]any) {
		r := one.(map[string]any)
		by, _ := r["by"].(string)
		given = append(given, answer{r["reply"].(string), by})
	}
	return given, detail["task"].(map[string]any)["status"].(string)
}
