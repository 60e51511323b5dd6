package sqlite_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// mount mounts a file system for the test, or skips it.
func mount(t *testing.T, source, kind string, flags uintptr, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount(source, dir, kind, flags, options); err != nil {
		t.Skipf("mounting %s takes root: %v", kind, err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

// strace returns the command line that runs a child under strace with these injections, or skips. What
// strace has to say goes to log.
func strace(t *testing.T, log string, inject ...string) []string {
	t.Helper()
	tool, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace, which injects the faults, is not installed")
	}
	line := []string{tool, "-f", "-qq", "-o", log}
	for _, i := range inject {
		line = append(line, "-e", "inject="+i)
	}
	return line
}

// attach injects faults into a child that runs. It returns when strace has it; detach lets it go.
func attach(t *testing.T, c *child, inject ...string) (detach func()) {
	t.Helper()
	line := append(strace(t, os.DevNull, inject...), "-p", strconv.Itoa(c.Process.Pid))
	line = append(line[:2], line[3:]...) // without -qq it says when it is attached
	tracer := exec.CommandContext(t.Context(), line[0], line[1:]...)
	says, err := tracer.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, tracer.Start())
	detach = sync.OnceFunc(func() {
		_ = tracer.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, says)
		_ = tracer.Wait()
	})
	t.Cleanup(detach)
	greeting, err := bufio.NewReader(says).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, greeting, "attached")
	return detach
}
