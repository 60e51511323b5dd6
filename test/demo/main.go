// Command demo plays a host. It spawns the waybill that it is given, hands it work over a real pipe, runs agents that are
// real processes, and checks every answer. It makes four points:
//
//   - an instruction that no agent acknowledges fails loudly;
//   - a task goes on, as the same task, after a model has failed and after an agent has asked;
//   - a plan is worked through by next_action alone, and only a valid result moves it;
//   - no "done" is believed without a receipt.
//
// Then it kills waybill and looks for every answered call. It knows waybill only by the wire.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run plays the demo with the programs in the arguments, and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) < 2 {
		_, _ = fmt.Fprintln(stderr, "usage: demo WAYBILL FAKEAGENT [FLAG…]\nThe flags are for waybill, such as --store=postgres://…")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := perform(ctx, args, stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, "demo:", err)
		return 1
	}
	return 0
}

// limit ends a demo that hangs. The demo takes a few seconds; with the race detector, on a busy machine, half a minute.
const limit = 3 * time.Minute

// perform plays all acts. The error names the first wrong answer.
func perform(ctx context.Context, args []string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "waybill-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	h := &host{out: out, flags: args[2:], workspace: filepath.Join(dir, "workspace"), state: filepath.Join(dir, "state")}
	if h.waybill, err = program(args[0]); err != nil {
		return err
	}
	if h.agent, err = program(args[1]); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(h.workspace, 0o700), os.Mkdir(h.state, 0o700)); err != nil {
		return err
	}
	start := time.Now()
	for _, act := range []struct {
		title string
		play  func(ctx context.Context, h *host)
	}{
		{"A host spawns waybill", handshake},
		{"Instructions are acknowledged or fail loudly", instructions},
		{"A task changes models, asks, and goes on with the answer", task},
		{"A plan is worked through by next_action alone", plan},
		{"An agent lies, and a check catches it", lie},
		{"kill -9 in the middle of the work", crash},
		{"The host says goodbye", goodbye},
	} {
		h.print("\n── %s\n", act.title)
		if err := h.play(ctx, act.play); err != nil {
			return fmt.Errorf("%s: %w", act.title, err)
		}
	}
	h.print("\nEverything went as promised, in %.1f s.\n", time.Since(start).Seconds())
	return nil
}

// program returns the absolute path of a program, because waybill runs in another folder.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// A broken promise ends the demo by a panic, so that an act reads like the host's side of a conversation.
type broken struct{ error }

// play plays one act. After a broken promise it kills waybill and returns the promise.
func (h *host) play(ctx context.Context, act func(ctx context.Context, h *host)) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			err = r.error
			h.kill()
		default:
			panic(r)
		}
	}()
	act(ctx, h)
	return nil
}

// must ends the demo if a promise is broken.
func must(holds bool, format string, args ...any) {
	if !holds {
		panic(broken{fmt.Errorf(format, args...)})
	}
}

// check ends the demo if there is an error.
func check(doing string, err error) {
	must(err == nil, "%s: %w", doing, err)
}
