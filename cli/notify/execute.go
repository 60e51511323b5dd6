package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"waybill/internal/procgroup"
	"waybill/internal/safetext"
)

const (
	patience = 10 * time.Second // for the command
	lastWait = time.Second      // for programs that hold its output after its end
	maxSaid  = 2 << 10          // bytes of its standard error
)

// execute runs the command with the message, and ends it after a while with everything that it started. Its output goes
// nowhere; the beginning of its standard error becomes part of the error.
func execute(ctx context.Context, command, text string, doc []byte) error {
	// On Linux the command ends with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shell := shell()
	cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], command)...)
	said := &head{}
	cmd.Stdin, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(doc), said, lastWait
	cmd.Env = append(cmd.Environ(), "WAYBILL_NOTIFY="+strings.ReplaceAll(text, "\x00", ""))
	procgroup.Detach(cmd) // it has no terminal to write to
	cmd.Cancel = func() error { procgroup.Kill(cmd); return nil }
	err := cmd.Start()
	if err != nil {
		return err
	}
	err = cmd.Wait()
	procgroup.Kill(cmd)
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // a program that it started held its output
		return nil
	case ctx.Err() != nil:
		err = fmt.Errorf("it did not end within %v", patience)
	}
	if line := safetext.OneLine(said.String(), 200); line != "" {
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// shell returns the program that reads a command from its last argument.
func shell() []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/d", "/c"}
	}
	return []string{"sh", "-c"}
}

// A head is a writer that keeps the first bytes.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, maxSaid-h.Len()))])
	return len(p), nil
}
