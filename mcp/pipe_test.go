package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/mcp"
	"waybill/wire"
)

// A pipe is the host's end of two pipes in memory to a server, in a bubble, where time costs nothing.
type pipe struct {
	in, out net.Conn
	stop    func() // ends the context of the server
	exit    chan int
}

// send writes lines as they are.
func (p *pipe) send(lines ...string) { _, _ = io.WriteString(p.in, strings.Join(lines, "\n")+"\n") }

func servePipe(table *api.Table, change ...func(*mcp.Options)) *pipe {
	inR, in := net.Pipe()
	out, outW := net.Pipe()
	o := mcp.Options{In: inR, Out: outW, Table: table}
	for _, f := range change {
		f(&o)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &pipe{in, out, stop, make(chan int, 1)}
	go func() { // ends when the server does
		code, err := mcp.Serve(ctx, o)
		if err != nil {
			panic(err)
		}
		stop()
		p.exit <- code
	}()
	return p
}

// A rawClient is a host that reads line by line.
type rawClient struct {
	*pipe
	t     testing.TB
	lines *bufio.Reader
	tally *wire.Tally
}

// connectRaw serves a harness with a plan.
func connectRaw(t testing.TB, p setup) (*harness, *rawClient) {
	t.Helper()
	p.asleep = true // the one that is called runs a server of its own
	h := newHarness(t, p)
	h.plan("tasks.md", "- [ ] 1 Cut the face\n")
	tally := new(wire.Tally)
	c := servePipe(h.table, func(o *mcp.Options) {
		o.Notify, o.Logger, o.Tally = h.Notify, h.logger(), tally
		o.SetMaxMessageBytes(10_000)
	})
	t.Cleanup(func() {
		c.stop()
		_, _ = c.in.Close(), c.out.Close()
	})
	return h, &rawClient{c, t, bufio.NewReader(c.out), tally}
}

// nextAnswer returns the next line.
func (c *rawClient) nextAnswer() string {
	c.t.Helper()
	text, err := c.lines.ReadString('\n')
	require.NoError(c.t, err)
	require.True(c.t, json.Valid([]byte(text)), text)
	return strings.TrimSuffix(text, "\n")
}

// remaining returns, in brief, the lines until the server closes its output, and its exit code.
func (c *rawClient) remaining() (all []string) {
	c.t.Helper()
	_ = c.in.Close() // it may be closed already
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

// initialize shakes hands.
func (c *rawClient) initialize() {
	c.t.Helper()
	const hello = `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}`
	require.Equal(c.t, `"hello" version 2025-11-25`, c.ask(inLegacy(`"hello"`, "initialize", hello)))
	c.send(note("notifications/initialized", ""))
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
