//go:build unix

package linearizability_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process is a waybill that is started again after each kill. One goroutine calls; another may kill.
type process struct {
	command func() *exec.Cmd
	in      io.WriteCloser
	answers <-chan answer // closed when the process has gone
	next    int

	mu    sync.Mutex // guards cmd
	cmd   *exec.Cmd  // nil while there is none
	kills int
}

// errGone says that the process has gone without an answer.
var errGone = errors.New("the process has gone")

// An answer is one that the process wrote, or a line that is none.
type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *refusal        `json:"error"`
	wrong  error
}

// read reads the output of a process to its end, and returns its answers. Notifications are read also while no call is
// made, because a process ends whose host reads nothing for a while.
func read(out io.Reader) <-chan answer {
	answers := make(chan answer)
	go func() { // ends with the process
		defer close(answers)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return // what came of a line before the end is no answer
			}
			var a answer
			if err := json.Unmarshal(line, &a); err != nil {
				a.wrong = fmt.Errorf("%q: %w", line, err)
			}
			if a.ID != 0 || a.wrong != nil {
				answers <- a
			}
		}
	}()
	return answers
}

// start starts a process. It does not wait for anything.
func (s *process) start() error {
	cmd := s.command()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.in, s.answers = in, read(out)
	s.mu.Lock()
	s.cmd = cmd
	s.mu.Unlock()
	return nil
}

// kill kills the process, if there is one.
func (s *process) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil && s.cmd.Process.Kill() == nil {
		s.kills++
	}
}

// wait waits for the end of the process, which takes nothing more into effect after that. It must have been killed.
func (s *process) wait() error {
	s.mu.Lock()
	cmd := s.cmd
	s.cmd = nil
	s.mu.Unlock()
	_ = s.in.Close()
	for range s.answers { // to the end, as Wait demands
	}
	err := cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the process ended by itself: %w", errors.Join(err, errGone))
	}
	return nil
}

// A refusal is an error that was answered.
type refusal struct {
	Message string `json:"message"`
	Data    struct {
		Code      string `json:"code"`
		Retryable bool   `json:"retryable"`
	} `json:"data"`
}

func (r *refusal) Error() string { return r.Data.Code + ": " + r.Message }

// call makes a call and reads its result into v. It is errGone if no answer comes.
func (s *process) call(method string, params map[string]any, v any) error {
	s.next++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.next, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := s.in.Write(append(text, '\n')); err != nil {
		return errGone
	}
	for a := range s.answers {
		switch {
		case a.wrong != nil:
			return a.wrong
		case a.ID != s.next:
		case a.Error != nil:
			return a.Error
		default:
			return json.Unmarshal(a.Result, v)
		}
	}
	return errGone
}

// end ends the process in peace.
func (s *process) end(t *testing.T) {
	t.Helper()
	require.NoError(t, s.in.Close())
	for range s.answers {
	}
	require.NoError(t, s.cmd.Wait())
}

// program returns the program in a world of its own, with these arguments.
func program(t *testing.T, workspace, state string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, args...)
	cmd.Dir = workspace
	// The race detector would sleep for a second at each exit.
	cmd.Env = append(os.Environ(), asWaybill+"=1", "XDG_STATE_HOME="+state, "XDG_CONFIG_HOME="+state, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}
