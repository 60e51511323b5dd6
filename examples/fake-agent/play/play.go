// Package play plays a coding agent: it reads a prompt and answers it, well or badly, as a script says,
// because no model misbehaves on demand.
//
// It refuses to do any work and to be random: the same prompt, script and count give the same bytes. It
// also refuses to share code with those who read its answers. Like any agent it knows the forms of a
// prompt and of a result from the outside, so that a mistake in one of them is not made twice.
package play

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

// The exit codes, besides those that a script asks for.
const (
	exitOK       = 0
	exitFailed   = 1  // the agent could not play its part
	exitMistake  = 2  // a mistake in the script, in an argument, or in the prompt
	exitQuestion = 10 // the answer is a question
	exitSignal   = 128
)

// Options are the world of one agent. The streams are required; the zero values of the others work.
type Options struct {
	Args           []string // without the name of the program
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// After is the clock: like time.After, which takes its place if it is nil.
	After func(time.Duration) <-chan time.Time
	// Stop ends a wait. If it is nil, Play listens for an interrupt and SIGTERM by itself, but only
	// while it waits; at any other moment they do what they do to every process.
	Stop <-chan os.Signal
}

// A mistake is something that the caller has to mend.
type mistake struct{ error }

func (m mistake) Unwrap() error { return m.error }

// Main plays one agent with the clock and the signals of the process, and gives its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Play(Options{Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr})
}

// Play plays one agent: it reads the prompt to its end, finds out what the script wants, writes that to
// Stdout and gives the exit code. Why it could not do so is written to Stderr: the exit code is 2 if the
// caller can mend it, and 1 otherwise. Agents that share a memory may play at the same time.
func Play(o Options) (exit int) {
	exit, err := perform(o)
	switch _, mine := errors.AsType[mistake](err); {
	case err == nil:
		return exit
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case mine:
		exit = exitMistake
	default:
		exit = exitFailed
	}
	// Where this cannot be written, the exit code has to say it alone.
	_, _ = fmt.Fprintf(o.Stderr, "fake-agent: %v\n", err)
	return exit
}

func perform(o Options) (exit int, err error) {
	c, err := parseArgs(o.Args, o.Stdout)
	if err != nil {
		return 0, err
	}
	rules, err := readScript(c.script)
	if err != nil {
		return 0, err
	}
	prompt, err := io.ReadAll(o.Stdin)
	if err != nil {
		return 0, fmt.Errorf("read the prompt: %w", err)
	}
	a, err := c.readPrompt(string(prompt))
	if err != nil {
		return 0, err
	}
	try, err := c.count(a)
	if err != nil {
		return 0, err
	}
	return o.act(a, rules.find(a, try))
}

// act lets the agent do what the rule says.
func (o Options) act(a asked, r rule) (exit int, err error) {
	s := scene{asked: a, argument: r.argument, out: bufio.NewWriter(o.Stdout), stderr: o.Stderr, after: o.After, stop: o.Stop}
	if s.after == nil {
		s.after = time.After
	}
	exit = r.behaviour.act(&s)
	if err := s.out.Flush(); err != nil {
		return 0, fmt.Errorf("write the answer: %w", err)
	}
	return exit, nil
}
