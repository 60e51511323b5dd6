// Package check runs the commands with which a person decides whether work is done, and computes the tree of a
// workspace: a hash over the contents of its files.
//
// These rules hold:
//
//   - A check runs in the workspace, in a session and process group of its own, without a terminal and without input. The
//     processes of the group do not outlive it. A daemon that leaves the group, as those of some build tools do, goes on.
//   - A check that does not end, floods its output, or cannot be started is red, with the reason. It is never green.
//   - An execution that this process ends has no receipt.
//   - Computing a tree changes neither the files of a workspace nor its repository. It runs git, and git runs no more than
//     the content filters that its configuration names.
//
// Only programs that own a terminal or a hook import this package: a server runs nothing.
package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"waybill/check/config"
	"waybill/core/proof"
	"waybill/internal/lazyregexp"
	"waybill/internal/procgroup"
	"waybill/schema"
)

// grace is the time between the request to end and the kill.
const grace = 5 * time.Second

// maxOutput is the size of an output at which a check is ended.
var maxOutput int64 = 1 << 30

// A Check is a command that a person owns.
type Check = config.Check

// typedName is a name before a command. It is in lower case, because a command may begin with a variable.
var typedName = lazyregexp.New(`^([a-z0-9][a-z0-9._:-]*)=`)

// Parse returns the check that a person typed, as COMMAND or name=COMMAND. Without a name, the command names it.
func Parse(typed string) (Check, error) {
	c := Check{Command: strings.TrimSpace(typed)}
	if name := typedName.Compiled().FindStringSubmatch(c.Command); name != nil {
		c.Name, c.Command = name[1], strings.TrimSpace(c.Command[len(name[0]):])
	} else {
		words := strings.FieldsFunc(c.Command, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		c.Name = strings.ToLower(strings.Join(words, "-"))
		c.Name = c.Name[:min(len(c.Name), 40)]
	}
	switch _, err := proof.ParseNames(c.Name); {
	case c.Command == "":
		return c, fmt.Errorf("%q has no command", typed)
	case c.Name == proof.Facts:
		return c, fmt.Errorf("%q is the name of the built-in check; choose another one", c.Name)
	case err != nil:
		return c, fmt.Errorf("%q needs a name: write name=COMMAND", typed)
	case len(c.Command) > config.MaxCommand:
		return c, fmt.Errorf("the command of %q has %d bytes, and at most %d are allowed: put it into a script", c.Name, len(c.Command), config.MaxCommand)
	}
	return c, nil
}

// Run runs a check in a folder and returns its receipt, still without a run. An error means that ctx ended first.
func Run(ctx context.Context, dir string, c Check) (schema.CheckRun, error) {
	r := schema.CheckRun{Check: c.Name, Command: c.CommandLine()}
	var unbound error
	r.TreeBefore, unbound = Tree(ctx, dir) // without a tree, the receipt is not bound to files
	began := time.Now()
	out := &tail{hash: sha256.New()}
	code, err := execute(ctx, dir, c, out)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.DurationMS = time.Since(began).Milliseconds()
	r.Output, r.OutputHash = out.text(), hex.EncodeToString(out.hash.Sum(nil))
	r.Outcome = proof.Green.String()
	if err != nil {
		r.Outcome, r.Reason = proof.Red.String(), err.Error()
	}
	if code >= 0 {
		r.ExitCode = &code
	}
	if code > 0 {
		r.Outcome = proof.Red.String()
	}
	if unbound == nil {
		r.TreeAfter, _ = Tree(ctx, dir)
	} else if r.Outcome == proof.Green.String() {
		r.Reason = "bound to no files, because there is no tree of them: " + unbound.Error()
	}
	return r, ctx.Err()
}

// errFlood ends a check that writes too much.
var errFlood = errors.New("ended because it wrote more than 1 GiB")

// execute runs the command of a check until it or ctx ends. code is -1 if it did not exit by itself.
func execute(ctx context.Context, dir string, c Check, out *tail) (code int, err error) {
	runtime.LockOSThread() // on Linux the command ends with its thread
	defer runtime.UnlockOSThread()
	timeout := c.Timeout
	if timeout == 0 {
		timeout = config.DefaultTimeout
	}
	limit, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	argv := c.Argv
	if len(argv) == 0 {
		argv = append(shell(), c.Command)
	}
	cmd := exec.CommandContext(limit, argv[0], argv[1:]...)
	cmd.Dir = dir
	out.stop = stop
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = grace
	procgroup.Detach(cmd)
	var ended atomic.Bool
	cmd.Cancel = func() error {
		ended.Store(true)
		return procgroup.Terminate(cmd)
	}
	if err := cmd.Start(); err != nil {
		return -1, fmt.Errorf("it cannot be started: %w", err)
	}
	err = cmd.Wait()
	procgroup.Kill(cmd)
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case out.flooded:
		return -1, errFlood
	case ended.Load() && ctx.Err() == nil:
		return -1, fmt.Errorf("timed out after %v", timeout)
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // something that it started held its output
		return 0, nil
	case failed && exit.Exited():
		return exit.ExitCode(), nil
	}
	return -1, fmt.Errorf("it did not end by itself: %w", err)
}

// shell returns the program that reads the command of a check from its last argument.
func shell() []string {
	if runtime.GOOS == "windows" {
		if _, err := exec.LookPath("sh"); err != nil {
			return []string{"cmd", "/c"}
		}
	}
	return []string{"sh", "-c"}
}

// A tail is a writer that hashes everything and keeps the end.
type tail struct {
	hash    hash.Hash
	kept    []byte
	size    int64
	flooded bool
	stop    func() // ends the program that writes
}

func (t *tail) Write(p []byte) (int, error) {
	if t.size += int64(len(p)); t.size > maxOutput {
		t.flooded = true
		t.stop()
		return 0, errFlood
	}
	t.hash.Write(p)
	t.kept = append(t.kept, p[max(0, len(p)-schema.MaxCheckOutput):]...)
	if over := len(t.kept) - schema.MaxCheckOutput; over > schema.MaxCheckOutput {
		t.kept = slices.Delete(t.kept, 0, over)
	}
	return len(p), nil
}

// text returns the end of the output as valid UTF-8 without NUL.
func (t *tail) text() string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(t.kept), "?"), "\x00", "?")
	return strings.ToValidUTF8(text[max(0, len(text)-schema.MaxCheckOutput):], "")
}
