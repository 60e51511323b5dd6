//go:build unix

package serve

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"waybill/mcp/supervise"
)

// canSupervise says that this system has what a supervisor needs: inherited descriptors and signals.
const canSupervise = true

// confirmationsFD is the descriptor from which a worker reads which of its lines the host was given.
const confirmationsFD = 3

// startWorker starts this program as a worker. Its group is its own, so that a signal of the terminal reaches it once, by
// way of the supervisor. It ends when its input ends, which it does with the supervisor.
func startWorker(args []string) (*supervise.Worker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stderr = os.Stderr //permit:os.Stderr because a worker logs where its supervisor does
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var pipes [3][2]*os.File
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			return nil, errors.Join(err, closeAll(pipes[:i]))
		}
	}
	input, in := pipes[0][0], pipes[0][1]
	out, output := pipes[1][0], pipes[1][1]
	confirmations, written := pipes[2][0], pipes[2][1]
	cmd.Stdin, cmd.Stdout, cmd.ExtraFiles = input, output, []*os.File{confirmations}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, closeAll(pipes[:]))
	}
	_, _ = output.Close(), confirmations.Close() // input stays open, to count the lines that the worker leaves unread
	return &supervise.Worker{
		In: in, Out: out, Written: written,
		Leave: func() { _ = cmd.Process.Signal(syscall.SIGTERM) },
		Kill:  func() { _ = cmd.Process.Kill() },
		Wait: func() (int, string) {
			_ = cmd.Wait() // the state says it
			if code := cmd.ProcessState.ExitCode(); code >= 0 {
				return code, ""
			}
			return -1, cmd.ProcessState.String()
		},
		Unread: func() int {
			left, _ := io.ReadAll(input) // it ends, because in is closed
			_ = input.Close()
			return bytes.Count(left, []byte("\n"))
		},
	}, nil
}

func closeAll(pipes [][2]*os.File) error {
	var errs []error
	for _, p := range pipes {
		errs = append(errs, p[0].Close(), p[1].Close())
	}
	return errors.Join(errs...)
}

// confirmedOutput returns the output of a worker.
func confirmedOutput(out io.WriteCloser) (io.WriteCloser, error) {
	file, ok := out.(*os.File)
	if !ok || syscall.SetNonblock(confirmationsFD, true) != nil {
		return nil, errors.New("--supervised is for processes that waybill mcp starts")
	}
	syscall.CloseOnExec(confirmationsFD)
	return supervise.NewConfirmedWriter(file, os.NewFile(confirmationsFD, "confirmations")), nil
}
