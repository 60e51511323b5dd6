package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// A child is a real waybill process, and the demo's connection to it as its host.
type child struct {
	cmd   *exec.Cmd
	conn  *jsonrpc2.Conn
	notes chan note // filled by the connection, never closed
}

// A note is a notification that the child sent.
type note struct {
	method string
	params json.RawMessage
}

// pipes joins the two ends of the child's standard streams.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

// Close closes both ends.
func (p pipes) Close() error {
	return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close())
}

// spawn starts the binary as a host would, on a workspace and a state folder of its own, with more flags if need be.
func spawn(ctx context.Context, o Options, workspace, state string, flags ...string) (*child, error) {
	args := append([]string{"serve", "--workspace", workspace, "--config", ""}, flags...)
	cmd := exec.CommandContext(ctx, o.Binary, args...)
	cmd.Env = append(slices.Clone(o.Env), "XDG_STATE_HOME="+state, "WAYBILL_WORKSPACE=")
	cmd.Dir = workspace
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Binary, err)
	}
	c := &child{cmd: cmd, notes: make(chan note, 1024)}
	stream := jsonrpc2.NewPlainObjectStream(pipes{out, in})
	c.conn = jsonrpc2.NewConn(ctx, stream, jsonrpc2.HandlerWithError(c.hear), jsonrpc2.SetLogger(quiet{}))
	return c, nil
}

// quiet drops what the library would say when the child is killed on purpose.
type quiet struct{}

// Printf says nothing.
func (quiet) Printf(string, ...any) {}

// hear takes a notification in. One too many is dropped, as a hint may be.
func (c *child) hear(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	n := note{method: r.Method}
	if r.Params != nil {
		n.params = *r.Params
	}
	select {
	case c.notes <- n:
	default:
	}
	return nil, nil
}

// await gives the first notification of a method that want accepts.
func (c *child) await(ctx context.Context, method string, want func(params json.RawMessage) bool) (json.RawMessage, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no %s came: %w", method, context.Cause(ctx))
		case n := <-c.notes:
			if n.method == method && want(n.params) {
				return n.params, nil
			}
		}
	}
}

// kill ends the child as kill -9 does, in the middle of whatever it is doing.
func (c *child) kill() error {
	err := c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it says "killed", which is no news
	return err
}

// leavePeriod is how long the child may take to end by itself.
const leavePeriod = 5 * time.Second

// leave ends the child as a polite host does, and checks that it ended well.
func (c *child) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leavePeriod)
	defer cancel()
	if err := c.conn.Call(ctx, "shutdown", nil, nil); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	if err := c.conn.Notify(ctx, "exit", nil); err != nil {
		return fmt.Errorf("exit: %w", err)
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("the child ended badly: %w", err)
	}
	return nil
}

// end ends the child politely, or otherwise if it has gone by itself: an interrupt at a terminal reaches it, too.
func (c *child) end(ctx context.Context) {
	if c.leave(ctx) != nil {
		_ = c.kill()
	}
}
