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
)

const (
	// mostOutput is how much is kept of what a command prints, its beginning and its end: as much as an attempt keeps.
	mostOutput = 1 << 20
	// mostJudged is how much of a result is judged.
	mostJudged = 8 << 20
	// mostReason is how much of the end of its standard error is kept for a reason.
	mostReason = 2 << 10
)

// A product is what came out of a command.
type product struct {
	output string
	reason string // the end of its standard error
	code   int    // its exit status, if err is nil
	err    error  // it did not end by itself
	absent bool   // it could not be started
	ended  bool   // it was asked to end
}

// execute runs the command until it ends or ctx does, and ends what it leaves behind.
func (h *host) execute(ctx context.Context, task, prompt string, env []string, most int) product {
	// On Linux the command ends with the thread that has begun it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	output, reason, said := &kept{most: most}, &kept{most: 2 * mostReason}, h.o.Errors(task)
	defer func() { _ = said.Close() }()
	cmd := exec.CommandContext(ctx, h.o.Command[0], h.o.Command[1:]...)
	cmd.Dir, cmd.Env = h.o.Dir, append(slices.DeleteFunc(cmd.Environ(), ours), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), output, io.MultiWriter(reason, said)
	cmd.WaitDelay = h.o.Grace
	group(cmd)
	var asked atomic.Bool
	cmd.Cancel = func() error {
		asked.Store(true)
		return ask(cmd)
	}
	err := cmd.Start()
	if err != nil {
		return product{err: err, absent: ctx.Err() == nil}
	}
	err = cmd.Wait()
	end(cmd)
	p := product{output: output.text(), reason: reason.last(mostReason), err: err, ended: asked.Load()}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // it has ended well, and something that it has started held its output
		p.err = nil
	case failed && exit.Exited():
		p.code, p.err = exit.ExitCode(), nil
	}
	return p
}

// ours reports whether a variable of the environment is one of those that tell a command what it is at: those of a command
// that has started this process are none of its commands'.
func ours(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains(told, name)
}

// why says in a line or a few why a command failed.
func (p product) why() string {
	said := strings.TrimSpace(p.reason)
	switch {
	case p.err != nil && said == "":
		return "the command did not end by itself: " + p.err.Error()
	case said == "":
		return "the command failed with exit status " + strconv.Itoa(p.code) + " and said nothing on its standard error"
	}
	return said
}

// A kept is a writer that keeps the beginning and the end of what is written.
type kept struct {
	most    int
	head    []byte
	tail    []byte // what is behind head, at most twice as long as it may be
	dropped int
}

func (k *kept) Write(p []byte) (int, error) {
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

// text gives what was kept as text of at most the size that was asked for, with a mark where something was left out.
func (k *kept) text() string {
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

// last gives the end of what was written, of at most n bytes, and of no more than half of what is kept.
func (k *kept) last(n int) string {
	if k.dropped > 0 {
		return ending(valid(string(k.tail)), n)
	}
	return ending(valid(string(k.head)+string(k.tail)), n)
}

// beginning gives the first n bytes of a text, without a part of a character.
func beginning(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// ending gives the last n bytes of a text, without a part of a character.
func ending(text string, n int) string {
	from := max(0, len(text)-n)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// valid replaces what nothing here can keep: what is no UTF-8, and NUL.
func valid(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
