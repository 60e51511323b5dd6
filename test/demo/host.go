package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"waybill/schema"
)

// A host owns one waybill process at a time, all on the same store.
type host struct {
	out              io.Writer // transcript
	waybill, agent   string    // paths of the programs
	flags            []string  // additional flags for waybill
	workspace, state string

	cmd   *exec.Cmd
	conn  *jsonrpc2.Conn
	notes chan *jsonrpc2.Request // notifications of the process; the connection fills it, and it is never closed
}

// print writes to the transcript.
func (h *host) print(format string, args ...any) {
	_, _ = fmt.Fprintf(h.out, format, args...) // a closed output needs no transcript
}

// command returns waybill with arguments, on the workspace and store of the demo, without the settings of the user.
func (h *host) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append(args, "--workspace", h.workspace, "--config", "")
	cmd := exec.CommandContext(ctx, h.waybill, append(args, h.flags...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "WAYBILL_") })
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+h.state)
	cmd.Dir = h.workspace
	return cmd
}

// pipes joins the standard streams of a process.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

// Close closes both ends.
func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

// quiet drops log lines of the library about the killed process.
type quiet struct{}

// Printf writes nothing.
func (quiet) Printf(string, ...any) {}

// spawn starts waybill as a host does.
func (h *host) spawn(ctx context.Context) {
	cmd := h.command(ctx, "serve")
	in, err := cmd.StdinPipe()
	check("make a pipe", err)
	out, err := cmd.StdoutPipe()
	check("make a pipe", err)
	check("start "+h.waybill, cmd.Start())
	h.cmd, h.notes = cmd, make(chan *jsonrpc2.Request, 1024)
	notes := h.notes
	handler := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		select {
		case notes <- r:
		default: // a notification is a hint
		}
		return nil, nil
	})
	h.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewPlainObjectStream(pipes{out, in}), handler, jsonrpc2.SetLogger(quiet{}))
}

// kill kills the process, like kill -9.
func (h *host) kill() {
	if h.cmd != nil && h.cmd.Process != nil {
		_ = h.cmd.Process.Kill() // it may have ended
		_ = h.cmd.Wait()         // it reports the kill
	}
}

// call makes a call.
func (h *host) call(ctx context.Context, method string, params, result any) {
	check(method, h.conn.Call(ctx, method, params, result))
}

// show writes a call and its answer to the transcript.
func (h *host) show(method, format string, args ...any) {
	h.print("  → %s\n  ← %s\n", method, fmt.Sprintf(format, args...))
}

// await waits for a notification of the method and returns its params.
func (h *host) await(ctx context.Context, method string, params any) {
	for {
		select {
		case <-ctx.Done():
			check("wait for "+method, ctx.Err())
		case n := <-h.notes:
			if n.Method == method && n.Params != nil {
				check(method, json.Unmarshal(*n.Params, params))
				return
			}
		}
	}
}

func handshake(ctx context.Context, h *host) {
	h.spawn(ctx)
	var r schema.InitializeResult
	h.call(ctx, "initialize", map[string]any{"client_info": map[string]string{"name": "demo-host", "version": "1"}}, &r)
	h.show("initialize", "%s %s, protocol %d, %d methods, pid %d",
		r.ServerInfo.Name, r.ServerInfo.Version, r.ProtocolVersion, len(r.Capabilities.Methods), r.ServerInfo.PID)
}

// open lists the kinds of the notices that remain at the end, because no host consumed them. The notice of the block that was
// ended is gone.
var open = []string{"instruction.failed", "task.retry_scheduled", "task.retry_session_ready", "task.finished", "run.blocked", "plan.completed"}

func goodbye(ctx context.Context, h *host) {
	var notices schema.NoticeList
	h.call(ctx, "list_notices", map[string]any{}, &notices)
	var kinds, ids []string
	for _, n := range notices.Items {
		kinds, ids = append(kinds, n.Kind), append(ids, n.NoticeID)
	}
	h.show("list_notices", "%d are still there, because no host consumed them", len(ids))
	must(slices.Equal(kinds, open), "the open notices are %v, not %v", kinds, open)
	var consumed schema.ConsumeNoticesResult
	h.call(ctx, "consume_notices", map[string]any{"notice_ids": ids}, &consumed)
	h.show("consume_notices", "%s", strings.Join(kinds, ", "))
	must(slices.Equal(consumed.Consumed, ids), "only %v were consumed", consumed.Consumed)

	h.call(ctx, "shutdown", nil, nil)
	check("exit", h.conn.Notify(ctx, "exit", nil))
	check("waybill", h.cmd.Wait())
	h.print("  shutdown, exit: the process ended with status 0\n")
}
