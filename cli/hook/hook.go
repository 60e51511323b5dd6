// Package hook answers the hooks of agent hosts. Package gate decides what an answer says.
//
// These rules hold:
//
//   - It never breaks the host. After any fault it lets the host go on: exit code 0, an answer that the host can read, one
//     line on standard error, and a notice where a store can be written. It ends before the host's own time limit.
//   - A text that the host did not take counts as not sent.
//   - How a host writes an event or reads an answer is known to package dialect alone.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/gate"
	"waybill/cli/hook/dialect"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
)

// maxInput is the size of the largest event that is read, in bytes.
const maxInput = 32 << 20

// Command returns the command.
func Command(a *program.App) *cobra.Command {
	h := &hook{App: a}
	cmd := &cobra.Command{
		Use: "hook HOST", Short: "Answer a hook of an agent host",
		Long: `Read one hook event of an agent host as JSON from standard input, and answer as that host expects. Hosts start this
command; waybill setup puts it into their configuration.

Hosts: ` + strings.Join(dialect.Names(), ", ") + `.

An agent receives the instructions of its session, and of the session default. The exit code is 0 in every case, so
that a fault never stops an agent: standard error and a notice say what is wrong.`,
		Example: "  waybill hook claude-code < event.json",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: cobra.FixedCompletions(dialect.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			host, ok := dialect.Of(args[0])
			if !ok {
				return fmt.Errorf("%s is no host with hooks that waybill knows: it knows %s", safetext.Quote(args[0], 40), strings.Join(dialect.Names(), ", "))
			}
			h.host = host
			return gate.Guard(func() error { return h.run(cmd.Context()) })
		},
	}
	cmd.Flags().StringVar(&h.session, "session", "", "the session whose instructions the agent receives (default: that of the host, and default)")
	cmd.Flags().DurationVar(&h.timeout, "timeout", 0, "how long the host waits for this hook (default: what waybill setup writes into its configuration)")
	program.NoFiles(cmd, "session", "timeout")
	return cmd
}

// Survives reports whether an error of the command must not stop the host that started it. It prints the error as one line.
func Survives(a *program.App, cmd *cobra.Command, args []string, err error) bool {
	lost := !cmd.HasParent() && slices.Contains(args, "hook") // a wrong flag in front of the word hides the command
	if !lost && (cmd.Name() != "hook" || cmd.Parent().HasParent()) {
		return false
	}
	complain(a, err)
	return true
}

// complain says in one line what is wrong.
func complain(a *program.App, err error) {
	a.Say("waybill hook: " + safetext.Verbatim(err.Error(), 500))
}

// A hook is one run of the command.
type hook struct {
	*program.App
	host    dialect.Host
	session string
	timeout time.Duration
}

// run reads the event, acts on it and answers. The error is what was wrong.
func (h *hook) run(ctx context.Context) error {
	began := time.Now()
	h.Streams = output.Enduring(h.Streams)
	text, err := h.read(h.within(began, 10*time.Second).act.Sub(began))
	if h.Env(program.HooksVariable) == "off" {
		_, err := h.write(dialect.Event{}, dialect.Answer{})
		return err
	}
	in := dialect.Input{Host: h.host.Name}
	if err == nil {
		err = gate.Guard(func() (err error) {
			in, err = h.host.Read(text)
			return err
		})
	}
	if err != nil {
		_, _ = h.write(dialect.Event{}, dialect.Answer{}) // first, because the store may be slow
		return h.handler(dialect.Input{Host: in.Host}).Report(ctx, err)
	}
	r := &runner{hook: h, agent: h.handler(in), times: h.within(began, in.Timeout)}
	ctx, stop := context.WithDeadlineCause(ctx, r.times.act, gate.ErrLate)
	defer stop()
	return r.answer(ctx, r.agent.Act)
}

// handler returns what acts on an event.
func (h *hook) handler(in dialect.Input) *gate.Handler {
	brief := in.Kind == dialect.Tool || in.Kind == dialect.ToolFailed || in.Kind == dialect.Prompt // the most frequent ones
	store := &gate.Store{App: h.App, Folder: in.Folder, Brief: brief}
	return &gate.Handler{Store: store, Host: h.host, In: in, Session: h.session, Command: "waybill hook"}
}

// times are the moments of one hook, in their order.
type times struct {
	act    time.Time // all work must have ended
	answer time.Time // the answer is written, with or without the work
	undo   time.Time // the last moment to take back what the host did not get
	end    time.Time // the process ends, before the host ends it
}

// within returns the times of a hook for which the host waits for the usual period, or for that of --timeout.
func (h *hook) within(began time.Time, usual time.Duration) times {
	if h.timeout > 0 {
		usual = h.timeout
	}
	act := usual - min(usual/5, 15*time.Second)
	answer := act + min(usual/10, 500*time.Millisecond)
	quarter := (usual - answer) / 4
	return times{began.Add(act), began.Add(answer), began.Add(answer + 2*quarter), began.Add(answer + 3*quarter)}
}

// read returns the event. A host that writes without an end, or nothing, does not hold the hook up.
func (h *hook) read(within time.Duration) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // ends with the input, or with the process
		text, err := io.ReadAll(io.LimitReader(h.In, maxInput+1))
		if err == nil && len(text) > maxInput {
			_, err = io.Copy(io.Discard, h.In) // a host that writes must not be cut off
			err = errors.Join(fmt.Errorf("the event has more than %d bytes and is left out", maxInput), err)
		}
		read <- result{text, err}
	}()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case r := <-read:
		return r.text, r.err
	case <-timer.C:
		return nil, fmt.Errorf("gave up after %v: the event does not end", within)
	}
}
