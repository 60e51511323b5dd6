package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// asAgent, set in the environment, makes the test binary be the program itself.
const asAgent = "FAKE_AGENT_TEST_BINARY_IS_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(asAgent) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func agent(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.script")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{"--script", path, "--role=worker", "--task=2.1"}, args...)...)
	cmd.Env = append(os.Environ(), asAgent+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdin = strings.NewReader("Draw the hands.\n")
	return cmd
}

// The process has the streams and the exit code, and remembers from one process to the next.
func TestTheProcess(t *testing.T) {
	memory := t.TempDir()
	for _, want := range []struct {
		exit   int
		stdout string
	}{{7, "role: wor"}, {10, "QUESTION: Roman or Arabic?\n"}, {0, "role: worker\ntask_id: 2.1\nstatus: pass\n"}} {
		cmd := agent(t, "2.1 worker 1 crash 7\n2.1 worker 2 question \"Roman or Arabic?\"\n", "--memory", memory)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var ended *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &ended) {
			require.NoError(t, err)
		}
		require.Equal(t, want.exit, cmd.ProcessState.ExitCode(), stderr.String())
		require.True(t, strings.HasPrefix(stdout.String(), want.stdout), stdout.String())
		require.Empty(t, stderr.String())
	}
}

// A process that hangs says so, and then a signal ends it.
func TestTheProcessHangsUntilItIsKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot send SIGTERM to a process")
	}
	cmd := agent(t, "* * * hang\n")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "fakeagent: waiting\n", line)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, cmd.Wait())
	require.Equal(t, 143, cmd.ProcessState.ExitCode())
	require.Empty(t, stdout.String())
}
