// Package acp starts a coding agent that speaks the Agent Client Protocol, and stands between it and the editor. Package gate
// decides what the agent gets and whether a turn may end; package acp has the protocol.
package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"waybill/acp"
	"waybill/cli/backend"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/procgroup"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/wire"
)

// grace is how long an agent may take to end when it is asked to.
const grace = 3 * time.Second

// commands are the commands of this package, for one run of the program.
type commands struct{ *program.App }

// Command returns the command.
func Command(a *program.App) *cobra.Command {
	return &cobra.Command{
		Use: "acp [-- AGENT [ARG]…]", Short: "Stand between an editor and an agent that speak ACP",
		Long: `Start AGENT, and be the agent for the editor that has started this command, in the Agent Client Protocol on standard
input and output. Instructions go in front of a prompt, tool calls acknowledge them, and the end of a turn is held while an
instruction is due or a check is red. All else passes as it is; see docs/acp.md.

Hooks of waybill in AGENT do nothing while it runs. Without AGENT, the command is a proxy in a chain, whose conductor sends
proxy/initialize.

Exit codes: 0 when the editor has ended; 1 when AGENT ended first, or could not be started; 2 for a wrong command line; 4 if
standard input or output cannot be used.`,
		Example: "  waybill acp -- claude-agent-acp\n  waybill acp -- opencode acp",
		RunE:    func(cmd *cobra.Command, args []string) error { return commands{a}.run(cmd.Context(), args) },
	}
}

// run is one conversation. It ends with a.Code.
func (a commands) run(ctx context.Context, args []string) error {
	return program.WithStdio(a.App, func(s program.Stdio) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		a.leaveInTime(ctx, stop)
		editor := acp.Pipe{In: s.In, Out: s.Out}
		if len(args) == 0 {
			return a.chain(ctx, editor, s.Logger)
		}
		return a.between(ctx, editor, args, s.Logger)
	})
}

// between starts the agent and stands between the editor and it until one of them ends.
func (a commands) between(ctx context.Context, editor acp.Pipe, args []string, logger *slog.Logger) error {
	agent, err := start(args, a.Err)
	if err != nil {
		a.Code = output.ExitFailed
		why := fmt.Sprintf("the agent %s cannot be started: %v", safetext.Quote(args[0], 200), err)
		a.Say("waybill acp: " + why)
		return acp.Refuse(ctx, editor, why)
	}
	policy := newPolicy(a.App, logger)
	err = acp.Run(ctx, acp.Options{
		Editor: editor, Agent: agent.pipe, Policy: policy, Ended: agent.end, Logger: logger,
		MaxMessageBytes: schema.MaxMessageBytes,
	})
	agent.stop()
	policy.close()
	if errors.Is(err, acp.ErrAgentEnded) {
		a.Code = output.ExitFailed
		a.Say("waybill acp: " + safetext.Printable(err.Error()))
		return nil
	}
	return err
}

// chain is one conversation in a chain of proxies. The conductor starts and ends the others.
func (a commands) chain(ctx context.Context, conductor acp.Pipe, logger *slog.Logger) error {
	policy := newPolicy(a.App, logger)
	defer policy.close()
	editor, agent, read := acp.Chain(conductor, logger)
	reading := backend.NewGroup()
	reading.Run(func(context.Context) { read() })
	defer reading.Stop() // Run has interrupted the input
	return acp.Run(ctx, acp.Options{
		Editor: editor, Agent: agent, Policy: policy, Ended: func() string { return "the chain ended" }, Logger: logger,
		MaxMessageBytes: acp.ChainLimit,
	})
}

// leaveInTime ends the conversation at a signal, and when the editor dies without closing it.
func (a commands) leaveInTime(ctx context.Context, stop func()) {
	signals := make(chan os.Signal, 1)
	leave := program.ListenToSignals(signals)
	go func() { // ends with the process
		<-signals
		signal.Reset(leave...)
		stop()
	}()
	editor := wire.NewParentWatch()
	go func() { // ends with ctx
		if editor.Run(ctx) == nil {
			stop()
		}
	}()
}

// A process is a running agent.
type process struct {
	pipe   acp.Pipe
	cmd    *exec.Cmd
	exited chan struct{} // closed after cmd has its state
}

// start starts an agent. On Linux it ends with this process.
func start(args []string, stderr *os.File) (*process, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	p := &process{pipe: acp.Pipe{In: out, Out: in}, exited: make(chan struct{})}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, stderr
	p.cmd.Env = append(p.cmd.Environ(), program.HooksVariable+"=off")
	procgroup.Set(p.cmd)
	started := make(chan error)
	go func() { // ends with the agent
		runtime.LockOSThread() // the agent ends with its thread
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // its state says it
			close(p.exited)
			time.AfterFunc(grace, func() { wire.Interrupt(out) }) // a process that the agent has left behind may hold it
		}
	}()
	err = <-started
	for _, file := range []io.Closer{childIn, childOut} {
		_ = file.Close() // the agent has its own
	}
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return p, nil
}

// end waits a while for the agent to exit, and returns how it ended.
func (p *process) end() string {
	wire.Within(grace, p.exited)
	return p.stop()
}

// stop ends the agent and what it has left behind, and returns how it ended.
func (p *process) stop() string {
	if !wire.Within(0, p.exited) {
		_ = procgroup.Terminate(p.cmd)
		if !wire.Within(grace, p.exited) {
			procgroup.Kill(p.cmd)
			<-p.exited
		}
	}
	procgroup.Kill(p.cmd)
	return p.cmd.ProcessState.String()
}
