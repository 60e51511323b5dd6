//go:build unix

package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// A worker is `waybill work` as a process, in a world with one task.
type worker struct {
	world
	t    *testing.T
	cmd  *exec.Cmd
	out  *bufio.Reader
	errs *bufio.Reader
	task string
}

// newWorker makes a task and has a script of the shell run for it. The script finds the named pipes "begun" and "go".
func newWorker(t *testing.T, script string, args ...string) *worker {
	t.Helper()
	w := &worker{world: newWorld(t), t: t}
	for _, name := range []string{"begun", "go"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(w.workspace, name), 0o600))
	}
	p := w.serve(t)
	var made schema.TaskResult
	p.must("create_task", `{"prompt":"Lend it.","max_attempts":3}`, &made)
	require.NoError(t, p.in.Close())
	p.end()
	w.task = made.Task.TaskID
	w.work(append(append([]string{"--json"}, args...), "--", "sh", "-c", script)...)
	return w
}

// work starts the process.
func (w *worker) work(args ...string) {
	w.t.Helper()
	w.cmd = w.command(w.t, append([]string{"work"}, args...)...)
	out, err := w.cmd.StdoutPipe()
	require.NoError(w.t, err)
	errs, err := w.cmd.StderrPipe()
	require.NoError(w.t, err)
	w.out, w.errs = bufio.NewReader(out), bufio.NewReader(errs)
	require.NoError(w.t, w.cmd.Start())
}

// begun waits until the script has begun, and returns what waits until nothing of it is left.
func (w *worker) begun() (over func()) {
	w.t.Helper()
	file, err := os.Open(filepath.Join(w.workspace, "begun"))
	require.NoError(w.t, err)
	return func() {
		_, err := io.ReadAll(file)
		require.NoError(w.t, err)
		require.NoError(w.t, file.Close())
	}
}

// until returns the next event of a kind.
func (w *worker) until(kind string) (e struct {
	Event   string `json:"event"`
	TaskID  string `json:"task_id"`
	Attempt int    `json:"attempt_number"`
	Status  string `json:"status"`
},
) {
	w.t.Helper()
	for e.Event != kind {
		line, err := w.out.ReadBytes('\n')
		require.NoError(w.t, err, "nothing was told of %s", kind)
		require.NoError(w.t, json.Unmarshal(line, &e))
	}
	return e
}

func (w *worker) exit() int {
	w.t.Helper()
	_, err := io.ReadAll(w.out)
	require.NoError(w.t, err)
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}

// The first interruption, which a terminal sends to all that runs in it, lets the command come to its end.
func TestInterruptedWorkLetsItsCommandEnd(t *testing.T) {
	t.Parallel()
	w := newWorker(t, "exec 3>begun; read line <go; echo done")
	over := w.begun()
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, os.WriteFile(filepath.Join(w.workspace, "go"), []byte("go\n"), 0o600))
	require.Equal(t, "COMPLETE", w.until("completed").Status)
	over()
	require.Zero(t, w.exit())
}

// SIGTERM ends the command, and so do a terminal that is closed and a second interruption. The task says so.
func TestTerminatedWorkEndsItsCommand(t *testing.T) {
	t.Parallel()
	taken := make(chan os.Signal, 1)
	signal.Notify(taken, syscall.SIGHUP) // a child of nohup would ignore it
	t.Cleanup(func() { signal.Stop(taken) })
	for _, asked := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
		t.Run(asked.String(), func(t *testing.T) {
			w := newWorker(t, "exec 3>begun; sleep 1000")
			over := w.begun()
			require.NoError(t, w.cmd.Process.Signal(asked))
			if asked == os.Interrupt {
				line, err := w.errs.ReadString('\n')
				require.NoError(t, err)
				require.Contains(t, line, "interrupt again to end it now")
				require.NoError(t, w.cmd.Process.Signal(asked))
			}
			require.Equal(t, "ERROR", w.until("interrupted").Status)
			over()
			require.Equal(t, 130, w.exit())
		})
	}
}

// A terminal that is held up, or a pipe that nobody reads, keeps nothing from its end.
func TestWorkWhoseErrorsNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	w := newWorker(t, "true")
	w.until("completed")
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
	require.Zero(t, w.exit())

	p := w.serve(t)
	p.must("create_task", `{"prompt":"Lend the other."}`, nil)
	require.NoError(t, p.in.Close())
	p.end()
	r, errs, err := os.Pipe() // which nobody reads
	require.NoError(t, err)
	defer func() { require.NoError(t, errors.Join(r.Close(), errs.Close())) }()
	w.cmd = w.command(t, "work", "--json", "--no-wait", "--timeout", "2s", "--grace", "1s", "--", "sh", "-c",
		"yes 'the font is gone' | head -c 1000000 >&2; sleep 1000")
	w.cmd.Stderr = errs
	out, err := w.cmd.StdoutPipe()
	require.NoError(t, err)
	w.out = bufio.NewReader(out)
	require.NoError(t, w.cmd.Start())
	require.Equal(t, "ERROR", w.until("failed").Status)
	require.Zero(t, w.exit())

	// Nor does what is said of an interruption: this one may be the first or the last that is heard of.
	p = w.serve(t)
	p.must("create_task", `{"prompt":"Lend another."}`, nil)
	require.NoError(t, p.in.Close())
	p.end()
	w.cmd = w.command(t, "work", "--", "sh", "-c", "exec 3>begun; sleep 1000")
	w.cmd.Stderr = errs // which is full
	require.NoError(t, w.cmd.Start())
	over := w.begun()
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	_ = w.cmd.Wait()
	over()
}
