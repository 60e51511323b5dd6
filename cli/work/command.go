package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
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
	err    error  // it could not be run, or was ended by a signal
}

// execute runs the command until it ends or ctx does.
func (h *host) execute(ctx context.Context, task, prompt string, env []string, most int) product {
	// On Linux the command ends with the thread that has begun it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	output, reason := &kept{most: most}, &kept{most: mostReason}
	cmd := exec.CommandContext(ctx, h.o.Command[0], h.o.Command[1:]...)
	cmd.Dir, cmd.Env = h.o.Dir, append(cmd.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(prompt), output, io.MultiWriter(h.o.Errors(task), reason)
	cmd.WaitDelay = h.o.Grace
	group(cmd)
	cmd.Cancel = func() error { return ask(cmd) }
	err := cmd.Start()
	if err == nil {
		err = cmd.Wait()
		if ctx.Err() != nil {
			end(cmd)
		}
	}
	p := product{output: output.text(), reason: reason.last(), err: err}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrWaitDelay): // it has ended well, and something that it has started holds its output
		p.err = nil
	case failed && exit.Exited():
		p.code, p.err = exit.ExitCode(), nil
	}
	return p
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

// text gives what was kept, as valid UTF-8 of at most the size that was asked for, with a mark where something was left
// out.
func (k *kept) text() string {
	const mark = "\n[… %d bytes left out …]\n"
	head, tail := valid(string(k.head)), valid(string(k.tail))
	if k.dropped == 0 && len(head)+len(tail) <= k.most {
		return head + tail
	}
	half := (k.most - 2*len(mark)) / 2
	n := min(half, len(head))
	for n > 0 && n < len(head) && !utf8.RuneStart(head[n]) {
		n--
	}
	m := max(0, len(tail)-half)
	for m < len(tail) && !utf8.RuneStart(tail[m]) {
		m++
	}
	return head[:n] + fmt.Sprintf(mark, k.dropped+len(head)-n+m) + tail[m:]
}

// last gives the end of what was written.
func (k *kept) last() string {
	all := append(append([]byte(nil), k.head...), k.tail...)
	return valid(string(all[max(0, len(all)-k.most):]))
}

// valid replaces what is no UTF-8, which nothing here can keep.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
