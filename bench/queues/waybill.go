package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
)

// A desk is the workspace and the store of a waybill process.
type desk struct {
	Program, Workspace, State string
	Store                     string `json:",omitempty"` // a URL, or "" for waybill's default file
}

// command returns the command that serves the desk.
func (d desk) command() *exec.Cmd {
	args := []string{"serve", "--workspace", d.Workspace}
	if d.Store != "" {
		args = append(args, "--store", d.Store)
	}
	cmd := exec.Command(d.Program, args...)
	cmd.Dir = d.Workspace
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+d.State, "WAYBILL_LOG=")
	cmd.Stderr = os.Stderr // errors of a child belong on its parent's standard error
	return cmd
}

// newDesk creates a workspace in a new folder.
func newDesk(program, dir, store string) (desk, error) {
	d := desk{Program: program, Workspace: filepath.Join(dir, "work"), State: filepath.Join(dir, "state"), Store: store}
	return d, os.Mkdir(d.Workspace, 0o700)
}

// begin starts a waybill process and makes a change, so that its store is open.
func (d desk) begin(ctx context.Context) (*host, error) {
	h, err := startHost(d.command())
	if err != nil {
		return nil, err
	}
	for _, call := range [][2]string{
		{"initialize", "{}"},
		{"consume_notices", `{"notice_ids":["ntc_none"]}`},
	} {
		if _, err := h.call(ctx, call[0], call[1]); err != nil {
			return nil, errors.Join(err, h.end())
		}
	}
	return h, nil
}

// counts are the store counts in the result of get_status.
type counts struct {
	Instructions struct{ Queued, Sent int }
	Tasks        struct {
		Queued  int `json:"QUEUED"`
		Running int `json:"RUNNING"`
	}
}

func (h *host) counts(ctx context.Context) (counts, error) {
	var answer struct{ Result struct{ Counts counts } }
	text, err := h.call(ctx, "get_status", "{}")
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer.Result.Counts, err
}

// waitMS is how long a call waits for a task or instruction.
const waitMS = 25000

// each runs that many workers until one fails or all have ended. Cancellation is no failure.
func each(ctx context.Context, workers int, work func(ctx context.Context, worker int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, workers)
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() { // ends with ctx, or when it fails, which ends ctx
			defer cancel()
			for ctx.Err() == nil && errs[worker] == nil {
				errs[worker] = work(ctx, worker)
			}
			if errors.Is(errs[worker], errCancelled) {
				errs[worker] = nil
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// A taskQueue uses waybill's tasks: items are prompts.
type taskQueue struct{ *host }

func (q taskQueue) put(ctx context.Context, _ int, item string) error {
	_, err := q.call(ctx, "create_task", `{"prompt":"`+item+`"}`)
	return err
}

func (q taskQueue) serve(ctx context.Context, workers int, taken func(item string)) error {
	return each(ctx, workers, func(ctx context.Context, worker int) error {
		_, err := q.work(ctx, worker, waitMS, taken)
		return err
	})
}

// work claims and finishes a task, and reports whether there was one.
func (q taskQueue) work(ctx context.Context, worker, wait int, taken func(item string)) (bool, error) {
	claim, err := q.call(ctx, "claim_task", fmt.Sprintf(`{"worker":"w%d","wait_ms":%d}`, worker, wait))
	task := member(claim, "task_id")
	if err != nil || task == "" {
		return false, err
	}
	taken(member(claim, "prompt"))
	return true, q.finish(ctx, task, member(claim, "token"))
}

func (q taskQueue) finish(ctx context.Context, task, token string) error {
	answer, err := q.call(context.WithoutCancel(ctx), "finish_attempt",
		fmt.Sprintf(`{"task_id":%q,"lease_token":%q,"status":"completed","output":"done"}`, task, token))
	if err == nil && !bytes.Contains(answer, []byte(`"applied":true`)) {
		err = fmt.Errorf("a report was not applied: %s", answer)
	}
	return err
}

func (q taskQueue) left(ctx context.Context) (int, error) {
	c, err := q.counts(ctx)
	return c.Tasks.Queued + c.Tasks.Running, err
}

func (q taskQueue) pid() int     { return q.cmd.Process.Pid }
func (q taskQueue) close() error { return q.end() }

// An instructionQueue uses waybill's instructions: each caller has a session, and the worker of the same number
// dispatches it.
type instructionQueue struct{ *host }

func (q instructionQueue) put(ctx context.Context, caller int, item string) error {
	_, err := q.call(ctx, "queue_instruction_with_ack", `{"session_id":"s`+strconv.Itoa(caller)+`","content":"`+item+`"}`)
	return err
}

func (q instructionQueue) serve(ctx context.Context, workers int, taken func(item string)) error {
	return each(ctx, workers, func(ctx context.Context, worker int) error {
		sent, err := q.call(ctx, "dispatch_instructions", fmt.Sprintf(`{"session_id":"s%d","limit":1,"wait_ms":%d}`, worker, waitMS))
		instruction := member(sent, "instruction_id")
		if err != nil || instruction == "" {
			return err
		}
		taken(member(sent, "content"))
		_, err = q.call(context.WithoutCancel(ctx), "acknowledge", fmt.Sprintf(`{"instruction_id":%q}`, instruction))
		return err
	})
}

func (q instructionQueue) left(ctx context.Context) (int, error) {
	c, err := q.counts(ctx)
	return c.Instructions.Queued + c.Instructions.Sent, err
}

func (q instructionQueue) pid() int     { return q.cmd.Process.Pid }
func (q instructionQueue) close() error { return q.end() }
