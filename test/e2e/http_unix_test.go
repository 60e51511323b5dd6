//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A caller sends requests to the front door of a process, with what its port file says.
type caller struct {
	t    *testing.T
	path string // of the file

	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// portFile reads the port file of a process that has answered.
func (w world) portFile(t *testing.T) *caller {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.state, "waybill", "*", "http.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	c := &caller{t: t, path: found[0]}
	require.NoError(t, json.Unmarshal(text, c))
	return c
}

// send sends a request and returns its answer. The caller closes the body.
func (c *caller) send(verb, path, body string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), verb, c.URL+path, strings.NewReader(body))
	require.NoError(c.t, err)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if verb == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(c.t, err)
	return res
}

// ask sends a request, expects that status, and reads the answer into v.
func (c *caller) ask(status int, verb, path, body string, v any) {
	c.t.Helper()
	res := c.send(verb, path, body)
	text, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, res.Body.Close())
	require.Equal(c.t, status, res.StatusCode, "%s %s: %s", verb, path, text)
	if v != nil {
		require.NoError(c.t, json.Unmarshal(text, v))
	}
}

// events begins to read the stream of events, and returns what passes over it until a line with a part.
func (c *caller) events() (next func(part string)) {
	c.t.Helper()
	events := c.send("GET", "/api/events", "")
	c.t.Cleanup(func() { _ = events.Body.Close() })
	stream := bufio.NewScanner(events.Body)
	next = func(part string) {
		c.t.Helper()
		for stream.Scan() {
			if strings.Contains(stream.Text(), part) {
				return
			}
		}
		require.Fail(c.t, "the stream has ended", "%s: %v", part, stream.Err())
	}
	next("event: ready")
	return next
}

// asked has a worker claim a task and ask a question, over standard input and output.
func (p *peer) asked() (id string) {
	p.t.Helper()
	p.must("create_task", `{"prompt":"build a boat"}`, nil)
	c := p.claim()
	p.finish(c, `"status":"awaiting_response","question":"oak or elm?"`)
	return c.Task.TaskID
}

// heard passes over what the process says until a notification of that kind.
func (p *peer) heard(method string, fits func(params string) bool) {
	p.t.Helper()
	for {
		if of, params := p.notified(); of == method && fits(params) {
			return
		}
	}
}

// notified returns the next notification or, without a method, answer that the process says.
func (p *peer) notified() (method, params string) {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	require.NoError(p.t, err)
	var note struct {
		Method string
		Params json.RawMessage
	}
	require.NoError(p.t, json.Unmarshal(line, &note))
	return note.Method, string(note.Params)
}

// An agent asks, a person answers in a browser, and the host that runs the agent hears of it.
func TestReplyOverHTTPReachesTheHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t, "--http")
	id := p.asked()
	c := w.portFile(t)
	require.Equal(t, p.cmd.Process.Pid, c.PID)

	next := c.events()
	var awaiting schema.AwaitingList
	c.ask(200, "GET", "/api/awaiting", "", &awaiting)
	require.Equal(t, id, awaiting.Items[0].TaskID)
	c.ask(400, "POST", "/api/tasks/"+id+"/reply", `{"reply":" "}`, nil)
	c.ask(404, "POST", "/api/tasks/tsk_none/reply", `{"reply":"elm"}`, nil)
	var answer schema.ReplyResult
	c.ask(200, "POST", "/api/tasks/"+id+"/reply", `{"reply":"elm","by":"me"}`, &answer)
	require.True(t, answer.Success)
	require.Equal(t, "AWAITING_RESPONSE", answer.OldStatus)
	require.Equal(t, "QUEUED", answer.NewStatus)
	p.heard("task/updated", func(params string) bool { return strings.Contains(params, id) && strings.Contains(params, `"QUEUED"`) })
	next(`"type":"task.replied"`)
	c.ask(409, "POST", "/api/tasks/"+id+"/reply", `{"reply":"oak"}`, nil)

	require.Contains(t, p.claim().Prompt, "[User Reply]\nelm")

	// The host leaves: the stream ends with a word, and the file is gone.
	require.NoError(t, p.in.Close())
	next("event: end")
	next("SHUTTING_DOWN")
	require.Zero(t, p.end())
	require.NoFileExists(t, c.path)
}

// The token of a host opened the workspaces of all other hosts of the user.
func TestTokenOfAHostOpensItsWorkspaceAlone(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	other.state = w.state
	other.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"create_task","params":{"prompt":"Wind the clock."}}`)
	var place struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(other.runs(t, "where", "--json")), &place))
	tasks := "/api/workspaces/" + place.ID + "/tasks"

	p := w.serve(t, "--http")
	p.must("get_status", "{}", nil)
	w.portFile(t).ask(424, "GET", tasks, "", nil)
	require.NoError(t, p.in.Close())
	require.Zero(t, p.end())

	p = w.serve(t, "--http", "--all-workspaces")
	p.must("get_status", "{}", nil)
	w.portFile(t).ask(200, "GET", tasks, "", nil)
}

// A signal ends the process while streams are open and connections are kept.
func TestFaultR20_SignalEndsStreamsAndTakesTheFileAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t, "--http")
	p.must("get_status", "{}", nil)
	c := w.portFile(t)
	silent, err := net.Dial("tcp", strings.TrimPrefix(c.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	events := c.send("GET", "/api/events", "")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	text, err := io.ReadAll(events.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "event: end\n")
	require.Zero(t, p.end())
	require.NoFileExists(t, c.path)
}

// Others of the machine can connect, and can read what is not private.
func TestFaultW6_TheTokenIsTheUsersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.Chmod(w.state, 0o777))
	p := w.serve(t, "--http=127.0.0.1:0")
	p.must("get_status", "{}", nil)
	c := w.portFile(t)
	for path, mode := range map[string]os.FileMode{c.path: 0o600, filepath.Dir(c.path): 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
	var all string
	for _, part := range p.cmd.Args {
		all += part + "\n"
	}
	require.NotContains(t, all, c.Token)
	c.ask(200, "GET", "/readyz", "", nil)
	c.Token = strings.Repeat("0", 64)
	c.ask(401, "GET", "/api/tasks", "", nil)
	c.ask(200, "GET", "/healthz", "", nil)
}

// The host names another folder than the one that it was started in: the file goes there.
func TestPortFileFollowsInitialize(t *testing.T) {
	t.Parallel()
	w, elsewhere := newWorld(t), newWorld(t)
	p := w.serve(t, "--http")
	p.must("initialize", fmt.Sprintf(`{"root_uri":%q}`, "file://"+elsewhere.workspace), nil)
	before := w.portFile(t)
	p.must("get_status", "{}", nil)
	after := w.portFile(t)
	require.NotEqual(t, before.path, after.path)
	require.Equal(t, before.Token, after.Token)
}

// The port is taken: the host is served all the same, and is told what is missing.
func TestFaultW10_TakenPortCostsOnlyTheDoor(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	w := newWorld(t)
	cmd := w.command(t, "serve", "--http="+listener.Addr().String())
	var said bytes.Buffer
	cmd.Stderr = &said
	p := start(t, cmd)
	require.Contains(t, strings.Join(p.status().Degraded, "\n"), "HTTP is not served")
	require.NoError(t, p.in.Close())
	require.Zero(t, p.end())
	require.Contains(t, said.String(), "address already in use")
	found, err := filepath.Glob(filepath.Join(w.state, "waybill", "*", "http.json"))
	require.NoError(t, err)
	require.Empty(t, found)
}

// An address that others can reach is a mistake on the command line.
func TestFaultW16_PublicAddressIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, at := range []string{"0.0.0.0:0", ":8080", "[::]:1", "192.0.2.1:80", "8080"} {
		cmd := w.command(t, "serve", "--http="+at)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s: %s", at, out)
		require.Contains(t, string(out), at)
		require.NotContains(t, string(out), "jsonrpc")
	}
}
