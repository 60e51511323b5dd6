package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// childRole is the environment variable that starts this program as a helper process.
const childRole = "WAYBILL_QUEUES_CHILD"

// runChild performs a role until its input ends.
func runChild(role string, in io.Reader, out io.Writer) error {
	var args []string
	if err := json.Unmarshal([]byte(role), &args); err != nil {
		return err
	}
	switch {
	case len(args) == 2 && args[0] == "jetstream":
		return serveJetStream(args[1], in, out)
	case len(args) == 4 && args[0] == "serve":
		return serveItems(args[1], args[2], args[3], in, out)
	case len(args) == 1 && args[0] == "echo":
		return echo(in, out)
	}
	return fmt.Errorf("there is no role %q", role)
}

// serveItems takes and acknowledges items of a contender, and writes the number of each one.
func serveItems(key, address, workers string, in io.Reader, out io.Writer) error {
	c, err := find(key)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(workers)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	q, err := c.join(ctx, address)
	if err != nil {
		return err
	}
	go func() { // ends with the input
		defer cancel()
		_, _ = io.Copy(io.Discard, in)
	}()
	var mu sync.Mutex // guards out
	err = q.serve(ctx, n, func(item string) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := io.WriteString(out, item[:8]+"\n"); err != nil {
			cancel() // the parent has gone
		}
	})
	return errors.Join(err, q.close())
}

// echo writes every line that it reads, at once.
func echo(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if _, err := out.Write(append(lines.Bytes(), '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

// A childProcess is this program in another role.
type childProcess struct {
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	lines *bufio.Reader
}

func startChild(role ...string) (*childProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(role)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childRole+"="+string(text))
	cmd.Stderr = os.Stderr // errors of a child belong on its parent's standard error
	in, out, err := pipes(cmd)
	if err != nil {
		return nil, err
	}
	return &childProcess{cmd, in, out, bufio.NewReader(out)}, nil
}

// line returns the next line that the child writes, without its end.
func (c *childProcess) line() (string, error) {
	text, err := c.lines.ReadString('\n')
	return strings.TrimSuffix(text, "\n"), err
}

// end closes the child's input and waits for its end.
func (c *childProcess) end() error {
	err := c.in.Close()
	_, copyErr := io.Copy(io.Discard, c.lines)
	return errors.Join(err, copyErr, c.cmd.Wait(), c.out.Close())
}

// elsewhere starts workers in another process that take and acknowledge the items of a place until ctx ends. It calls
// taken for each item when this process reads its number.
func (c contender) elsewhere(ctx context.Context, address string, workers int, taken func(item string)) error {
	if c.ours {
		q, err := c.join(ctx, address)
		if err != nil {
			return err
		}
		return errors.Join(q.serve(ctx, workers, taken), q.close())
	}
	other, err := startChild("serve", c.key, address, strconv.Itoa(workers))
	if err != nil {
		return err
	}
	return other.relay(ctx, taken)
}

// relay calls taken for every line of the child. The end of ctx ends the child.
func (c *childProcess) relay(ctx context.Context, taken func(item string)) error {
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- c.in.Close() })
	var err error
	for err == nil {
		var line string
		if line, err = c.line(); err == nil {
			taken(line)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if stop() { // it ended by itself
		closed <- errors.Join(errors.New("the other process ended"), c.in.Close())
	}
	return errors.Join(err, <-closed, c.cmd.Wait(), c.out.Close())
}
