package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	tiktoken "github.com/tiktoken-go/tokenizer/codec"

	"waybill/api"
	"waybill/schema/codec"
	"waybill/schema/gen"
)

// handshake is what a host says first.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// stock is the library for the Model Context Protocol with its own transport, and a tool that does nothing.
func stock(in io.ReadCloser, out io.WriteCloser) {
	server := sdk.NewServer(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "get_task", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
		})
	_ = server.Run(context.Background(), &sdk.IOTransport{Reader: in, Writer: out}) // it ends with the input
}

// benchStore names the store of the contender that has one.
const benchStore = "WAYBILL_BENCH_STORE"

// stockSame is the same library, and a tool that does what waybill's does: it looks for the task in the store and returns
// its JSON. What waybill's front door does beyond that is not in it.
func stockSame(in io.ReadCloser, out io.WriteCloser) {
	table, end, err := serviceOf(filepath.Dir(os.Getenv(benchStore)), os.Getenv(benchStore), 0)
	if err != nil {
		return
	}
	defer func() { _ = end() }()
	entry, _ := table.Entry("get_task")
	server := sdk.NewServer(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "get_task", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var answer api.Answer
			entry.Start(ctx, req.Params.Arguments, func(a api.Answer) { answer = a })
			if answer.Err != nil {
				return nil, answer.Err
			}
			text, err := codec.Encode(answer.Result)
			if err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
		})
	_ = server.Run(context.Background(), &sdk.IOTransport{Reader: in, Writer: out}) // it ends with the input
}

// waybillMCP returns the command that serves the protocol on the workspace.
func waybillMCP(workspace, state string) *exec.Cmd {
	cmd := waybill(workspace, state)
	cmd.Args[1] = "mcp"
	return cmd
}

// A toolHost is a host that asks for one task again and again.
type toolHost struct {
	*host
	call []byte // with its end
}

// each sends n calls, each after the answer to the one before, and returns the time of each in µs.
func (h toolHost) each(b *testing.B, n int) series {
	times := make(series, n)
	for i := range n {
		start := time.Now()
		if err := h.send(h.call); err != nil {
			b.Fatal(err)
		}
		if _, err := h.answer(); err != nil {
			b.Fatal(err)
		}
		times[i] = micros(time.Since(start))
	}
	return times
}

// BenchmarkToolCall measures a call of a tool that reads one task, beside the same method over JSON-RPC, beside the
// library on its own with a tool that does the same and with one that does nothing, and beside a pipe.
func BenchmarkToolCall(b *testing.B) {
	all, medians := map[string]series{}, map[string]series{}
	for b.Loop() {
		for _, name := range []string{"pipe", "json-rpc", "stock", "stock-same", "waybill"} {
			h := newToolHost(b, name)
			h.each(b, 500) // until it has grown to its size
			times := h.each(b, 1000)
			all[name] = append(all[name], times...)
			medians[name] = append(medians[name], times.median())
			h.end(b)
		}
	}
	reportOnly(b)
	ours := medians["waybill"].usual()
	for name, times := range all {
		b.ReportMetric(medians[name].usual(), "p50-µs-"+name)
		b.ReportMetric(times.quantile(0.99), "p99-µs-"+name)
		b.ReportMetric(ours/medians[name].usual(), "x-p50-"+name)
	}
}

// newToolHost starts a server that has one task.
func newToolHost(b *testing.B, name string) toolHost {
	root := b.TempDir()
	work, state := filepath.Join(root, "work"), filepath.Join(root, "state")
	require.NoError(b, os.Mkdir(work, 0o700))
	store := filepath.Join(work, "store.db")
	ours := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Args = append(cmd.Args, "--store", store)
		return cmd
	}
	maker := spawn(b, ours(waybill(work, state)))
	task := member(maker.call(b, `{"jsonrpc":"2.0","id":1,"method":"create_task","params":{"prompt":"Migrate the loans."}}`), "task_id")
	maker.end(b)
	asTool := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_task","arguments":{"task_id":%q}}}`+"\n", task)
	switch name {
	case "json-rpc":
		return toolHost{spawn(b, ours(waybill(work, state))), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"get_task","params":{"task_id":%q}}`+"\n", task)}
	case "waybill":
		h := spawn(b, ours(waybillMCP(work, state)))
		h.call(b, handshake)
		return toolHost{h, asTool}
	}
	other := contender(name)
	other.Env = append(other.Env, benchStore+"="+store)
	h := spawn(b, other)
	h.call(b, handshake)
	return toolHost{h, asTool}
}

// BenchmarkSpawnMCP measures the time from the spawning of `waybill mcp` to its first answer, beside that of the library
// on its own and of the smallest Go server that can give an answer.
func BenchmarkSpawnMCP(b *testing.B) {
	root := b.TempDir()
	var empty, library, ours series
	for b.Loop() {
		before := firstAnswer(b, exec.Command(programs.emptyServer), handshake)
		library = append(library, firstAnswer(b, contender("stock"), handshake))
		ours = append(ours, firstAnswer(b, waybillMCP(root, filepath.Join(root, "state")), handshake))
		empty = append(empty, (before+firstAnswer(b, exec.Command(programs.emptyServer), handshake))/2)
	}
	reportOnly(b)
	b.ReportMetric(empty.median(), "p50-ms-empty-server")
	b.ReportMetric(library.median(), "p50-ms-stock")
	b.ReportMetric(ours.median(), "p50-ms")
	b.ReportMetric(ours.quantile(0.99), "p99-ms")
	b.ReportMetric(ours.over(empty), "x-empty-server")
}

// BenchmarkToolListTokens counts what a model reads before anything else, by the vocabulary o200k_base. The probe is the
// vocabulary of all methods in JSON Schema, which a host would have to hand over otherwise.
func BenchmarkToolListTokens(b *testing.B) {
	vocabulary := tiktoken.NewO200kBase()
	for b.Loop() {
		root := b.TempDir()
		h := spawn(b, waybillMCP(root, filepath.Join(root, "state")))
		h.call(b, handshake)
		tools, err := vocabulary.Count(string(h.call(b, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)))
		require.NoError(b, err)
		all, err := vocabulary.Count(string(gen.JSONSchema()))
		require.NoError(b, err)
		h.end(b)
		reportOnly(b)
		b.ReportMetric(float64(tools), "tokens")
		b.ReportMetric(float64(all)/float64(tools), "x-all-methods")
	}
}
