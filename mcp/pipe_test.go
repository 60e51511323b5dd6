package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/mcp"
	"waybill/wire"
)

// A rawClient is the host's end of two real pipes to a server.
type rawClient struct {
	t     testing.TB
	in    *os.File // to the server
	out   *os.File // from the server
	lines *bufio.Reader
	tally *wire.Tally
	stop  context.CancelFunc
	exit  chan int
}

// connectRaw serves the harness over real pipes.
func (h *harness) connectRaw(change ...func(*mcp.Options)) *rawClient {
	h.t.Helper()
	inR, inW, err := os.Pipe()
	require.NoError(h.t, err)
	outR, outW, err := os.Pipe()
	require.NoError(h.t, err)
	ctx, stop := context.WithCancel(context.Background())
	c := &rawClient{t: h.t, in: inW, out: outR, lines: bufio.NewReader(outR), tally: new(wire.Tally), stop: stop, exit: make(chan int, 1)}
	o := mcp.Options{
		In: inR, Out: outW, Table: h.table, Notify: h.Notify, Version: "test", Tally: c.tally,
		Logger: slog.New(slog.NewTextHandler(h.log, nil)),
	}
	for _, f := range change {
		f(&o)
	}
	ended := make(chan struct{})
	go func() { // ends when the server does
		defer close(ended)
		code, err := mcp.Serve(ctx, o)
		if err != nil {
			panic(err)
		}
		c.exit <- code
	}()
	h.t.Cleanup(func() {
		stop()
		_ = inW.Close()
		_ = outR.Close()
		<-ended
	})
	return c
}

// send writes lines as they are.
func (c *rawClient) send(lines ...string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n")
	require.NoError(c.t, err)
}

// setDeadline has the next reads end after a while, where pipes know such a thing.
func (c *rawClient) setDeadline() {
	c.t.Helper()
	if err := c.out.SetReadDeadline(time.Now().Add(patience)); !errors.Is(err, os.ErrNoDeadline) {
		require.NoError(c.t, err)
	}
}

// nextAnswer returns the next line.
func (c *rawClient) nextAnswer() string {
	c.t.Helper()
	c.setDeadline()
	text, err := c.lines.ReadString('\n')
	require.NoError(c.t, err)
	require.True(c.t, json.Valid([]byte(text)), text)
	return strings.TrimSuffix(text, "\n")
}

// remaining returns, in brief, the lines until the server closes its output, and its exit code.
func (c *rawClient) remaining() (all []string) {
	c.t.Helper()
	_ = c.in.Close() // it may be closed already
	c.setDeadline()
	for {
		text, err := c.lines.ReadString('\n')
		if err != nil {
			require.ErrorIs(c.t, err, io.EOF)
			require.Empty(c.t, text, "half a line")
			require.Zero(c.t, <-c.exit)
			return all
		}
		all = append(all, brief(c.t, text))
	}
}

// ask sends a line, and returns the next one in brief.
func (c *rawClient) ask(line string) string {
	c.t.Helper()
	c.send(line)
	return brief(c.t, c.nextAnswer())
}

// requireAlive checks that the session goes on.
func (c *rawClient) requireAlive() {
	c.t.Helper()
	require.Equal(c.t, `"alive" complete`, c.ask(inModern(`"alive"`, "tools/call", `"name":"ready_items","arguments":{"plan":"tasks.md"}`)))
}

// An answer is what a test looks at in a line of the server.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *struct {
		ResultType        string          `json:"resultType"`
		IsError           bool            `json:"isError"`
		ProtocolVersion   string          `json:"protocolVersion"`
		SupportedVersions []string        `json:"supportedVersions"`
		StructuredContent object          `json:"structuredContent"`
		Tools             []any           `json:"tools"`
		Meta              json.RawMessage `json:"_meta"`
		Content           []struct{ Text string }
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code, Hint, Outcome, Incident string
		} `json:"data"`
	} `json:"error"`
	Params json.RawMessage `json:"params"`
}

func parse(t testing.TB, line string) (a answer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(line), &a), line)
	return a
}

// brief says a line in a few words: the id, and what became of it.
func brief(t testing.TB, line string) string {
	t.Helper()
	a := parse(t, line)
	switch {
	case a.Method != "":
		return strings.TrimSpace(a.Method + " " + string(a.ID))
	case a.Error != nil:
		require.Nil(t, a.Result, line)
		require.NotEmpty(t, a.Error.Message)
		return strings.TrimSpace(fmt.Sprintf("%s %d %s", a.ID, a.Error.Code, a.Error.Data.Code))
	}
	require.NotNil(t, a.Result, line)
	switch {
	case a.Result.IsError:
		code, _, _ := strings.Cut(a.Result.Content[0].Text, ":")
		return fmt.Sprintf("%s error %s", a.ID, code)
	case a.Result.ProtocolVersion != "":
		return fmt.Sprintf("%s version %s", a.ID, a.Result.ProtocolVersion)
	case a.Result.ResultType != "":
		return fmt.Sprintf("%s %s", a.ID, a.Result.ResultType)
	}
	return fmt.Sprintf("%s result", a.ID)
}

// inLegacy is a request as hosts send it that shake hands first; members are those of its params.
func inLegacy(id, method, members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, members)
}

// inModern is a request as hosts send it that do not.
func inModern(id, method, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}%s}}`, id, method, modern, members)
}

func note(method, members string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{%s}}`, method, members)
}

// tool is the members of a tools/call.
func tool(name, arguments string) string {
	return fmt.Sprintf(`"name":%q,"arguments":{%s}`, name, arguments)
}

// hello is the members of a handshake.
func hello(capabilities string) string {
	return `"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}`
}

// initialize shakes hands.
func (c *rawClient) initialize(capabilities string) {
	c.t.Helper()
	require.Equal(c.t, `"hello" version 2025-11-25`, c.ask(inLegacy(`"hello"`, "initialize", hello(capabilities))))
	c.send(note("notifications/initialized", ""))
}

// connectRaw starts a harness with a plan and connects a rawClient, which can send any line.
func connectRaw(t testing.TB, p setup, change ...func(*mcp.Options)) (*harness, *rawClient) {
	t.Helper()
	p.asleep = true // the one that is called runs a server of its own
	h := newHarness(t, p)
	h.plan("tasks.md", "- [ ] 1 Cut the face\n")
	return h, h.connectRaw(change...)
}

// Whatever a model sends, it is answered, and never with a defect.
func FuzzArguments(f *testing.F) {
	tools := []string{"acknowledge", "compile_prompt", "create_task", "finish_attempt", "get_task", "ingest_output", "init_run", "ready_items", "reply"}
	for i, arguments := range []string{
		`{}`, `{"instruction_id":"ins_1"}`, `{"run_id":"r","role":"worker","since":"since_x.1"}`, `{"prompt":"p","depends_on":["t"]}`,
		`{"task_id":"t","lease_token":"l","status":"error","error":"e","error_class":"user"}`, `{"task_id":"t","cursor":"rest_x.1.1"}`,
		`{"run_id":"r","role":"worker","output":"\u0000"}`, `{"plan":"a","item_id":"1"}`, `{"error":{"message":null}}`, `[{}]`, `{"a":1,"a":2}`,
	} {
		f.Add(i, arguments)
	}
	g := newHarness(f, setup{asleep: true}).connect(modern, nil)
	f.Fuzz(func(t *testing.T, i int, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return // the transport refuses it
		}
		tool := tools[uint(i)%uint(len(tools))]
		r, err := g.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		var fault *jsonrpc.Error
		if errors.As(err, &fault) {
			require.NotEqual(t, int64(jsonrpc.CodeInternalError), fault.Code, "%s %s: %v", tool, arguments, fault)
			return
		}
		require.NoError(t, err)
		require.NotEmpty(t, r.Content)
		require.Equal(t, r.IsError, r.StructuredContent == nil)
		require.LessOrEqual(t, len(strings.Join(texts(r), "")), 64<<10)
	})
}
