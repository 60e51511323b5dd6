// Package play plays a coding agent by a script: it reads a prompt and answers it, well or badly, because no model
// misbehaves on demand.
//
// The same prompt, script and count give the same bytes. It shares no code with the readers of its answers, so that a
// mistake on one side shows on the other.
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

// The exit codes of Play. A script may name others.
const (
	exitOK       = 0
	exitFailed   = 1  // the agent failed itself
	exitMistake  = 2  // a mistake in the script, an argument, or the prompt
	exitQuestion = 10 // the answer is a question
	exitSignal   = 128
)

// Options configure one agent. The streams are required.
type Options struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// After is the clock; the default is time.After.
	After func(time.Duration) <-chan time.Time
	// Stop ends a wait. If it is nil, Play handles interrupt and SIGTERM while it waits, and only then.
	Stop <-chan os.Signal
}

// A mistake is an error that the caller must solve.
type mistake struct{ error }

func (m mistake) Unwrap() error { return m.error }

// Main plays one agent with the clock and signals of the process, and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Play(Options{Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr})
}

// Play plays one agent: it reads the prompt, finds the rule of the script, writes the answer to Stdout and returns
// the exit code. After an error it writes the reason to Stderr and returns 2 for a mistake of the caller, otherwise
// 1. Agents may share a memory concurrently.
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
	// If the write fails, the exit code must suffice.
	_, _ = fmt.Fprintf(o.Stderr, "fakeagent: %v\n", err)
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

// act performs the behaviour of a rule.
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
