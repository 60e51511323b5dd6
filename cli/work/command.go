package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"waybill/cli/program"
	"waybill/internal/procgroup"
)

const (
	// maxOutput limits how much of an output is kept, from its start and its end. It is the limit of an attempt.
	maxOutput = 1 << 20
	// maxJudged limits the bytes of a result for judgement.
	maxJudged = 8 << 20
	// maxReason limits the bytes from the end of standard error that become a reason.
	maxReason = 2 << 10
)

// A commandResult is the result of a command.
type commandResult struct {
	output string
	reason string // end of standard error
	code   int    // exit status, if err is nil
	err    error  // it did not end by itself
	absent bool   // it could not be started
	ended  bool   // it was asked to end
}

// execute runs the command until it or ctx ends, and then ends the processes that it left behind.
func (h *host) execute(ctx context.Context, task, prompt string, env []string, most int) commandResult {
	// On Linux the command ends with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	output, reason, said := &headTailWriter{most: most}, &headTailWriter{most: 2 * maxReason}, h.o.Errors(task)
	defer func() { _ = said.Close() }()
	cmd := exec.CommandContext(ctx, h.o.Command[0], h.o.Command[1:]...)
	cmd.Dir, cmd.Env = h.o.Dir, append(slices.DeleteFunc(cmd.Environ(), isTaskVariable), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), output, io.MultiWriter(reason, said)
	cmd.WaitDelay = h.o.Grace
	procgroup.Set(cmd)
	var asked atomic.Bool
	cmd.Cancel = func() error {
		asked.Store(true)
		return procgroup.Terminate(cmd)
	}
	err := cmd.Start()
	if err != nil {
		return commandResult{err: err, absent: ctx.Err() == nil}
	}
	err = cmd.Wait()
	procgroup.Kill(cmd)
	p := commandResult{output: output.text(), reason: reason.last(maxReason), err: err, ended: asked.Load()}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // it has ended well, and something that it has started held its output
		p.err = nil
	case failed && exit.Exited():
		p.code, p.err = exit.ExitCode(), nil
	}
	return p
}

// isTaskVariable reports whether an environment variable describes a task or switches hooks off. A command that started this
// process has such variables, and they must not reach this process's commands.
func isTaskVariable(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return name == program.HooksVariable || slices.Contains(program.TaskVariables, name)
}

// why returns the reason of a failure, in a few lines. Many agents print it as the last line of their output, and
// nothing on standard error.
func (p commandResult) why() string {
	said := strings.TrimSpace(p.reason)
	if output := strings.TrimSpace(p.output); said == "" && p.err == nil {
		said = beginning(strings.TrimSpace(output[strings.LastIndexByte(output, '\n')+1:]), maxReason)
	}
	switch {
	case p.err != nil && said == "":
		return "the command did not end by itself: " + p.err.Error()
	case said == "":
		return "the command failed with exit status " + strconv.Itoa(p.code) + " and said nothing"
	}
	return said
}

// A headTailWriter is a writer that keeps the start and the end of its input.
type headTailWriter struct {
	most    int
	head    []byte
	tail    []byte // input after head, at most twice its limit
	dropped int
}

func (k *headTailWriter) Write(p []byte) (int, error) {
	n := len(p)
	if room := k.most/2 - len(k.head); room > 0 {
		m := min(room, n)
		k.head, p = append(k.head, p[:m]...), p[m:]
	}
	k.tail = append(k.tail, p...)
	if half := k.most / 2; len(k.tail) > 2*half {
		over := len(k.tail) - half
		k.tail = append(k.tail[:0], k.tail[over:]...)
		k.dropped += over
	}
	return n, nil
}

// text returns the kept input within the limit, with a mark for the part that was left out.
func (k *headTailWriter) text() string {
	const mark = "\n[… %d bytes left out …]\n"
	head, tail := string(k.head), string(k.tail)
	if k.dropped == 0 {
		all := valid(head + tail)
		if len(all) <= k.most {
			return all
		}
		head, tail = all[:len(all)/2], all[len(all)/2:]
	}
	half := (k.most - 2*len(mark)) / 2
	first, last := beginning(valid(head), half), ending(valid(tail), half)
	return first + fmt.Sprintf(mark, k.dropped+len(head)+len(tail)-len(first)-len(last)) + last
}

// last returns at most n bytes from the end of the input, and at most half of the limit.
func (k *headTailWriter) last(n int) string {
	if k.dropped > 0 {
		return ending(valid(string(k.tail)), n)
	}
	return ending(valid(string(k.head)+string(k.tail)), n)
}

// beginning returns at most n bytes from the start of a text, cut between characters.
func beginning(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// ending returns at most n bytes from the end of a text, cut between characters.
func ending(text string, n int) string {
	from := max(0, len(text)-n)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// valid replaces invalid UTF-8 and NUL, which no store keeps.
func valid(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
