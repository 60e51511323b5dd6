//go:build unix

package rpc_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/wire"
)

// A child is a server in a process of its own, and the host's ends of its pipes.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	log *bytes.Buffer // complete when the child has ended
}

// spawn starts a server. change may rearrange its descriptors.
func spawn(t *testing.T, change ...func(*exec.Cmd)) *child {
	t.Helper()
	c := &child{t: t, cmd: reexec("serve"), log: &bytes.Buffer{}}
	c.cmd.Stderr = c.log
	for _, f := range change {
		f(c.cmd)
	}
	if c.cmd.Stdin == nil {
		in, err := c.cmd.StdinPipe()
		require.NoError(t, err)
		c.in = in
	}
	if c.cmd.Stdout == nil {
		out, err := c.cmd.StdoutPipe()
		require.NoError(t, err)
		c.out = bufio.NewReader(out)
	}
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *child) ask(message string) string {
	c.t.Helper()
	_, err := io.WriteString(c.in, message+"\n")
	require.NoError(c.t, err)
	return brief(c.t, c.line())
}

func (c *child) line() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	require.NoError(c.t, err, "log: %s", c.log)
	return line
}

// end closes the input and gives how the process ended.
func (c *child) end() string {
	c.t.Helper()
	_ = c.in.Close()
	return c.ended()
}

func (c *child) ended() string {
	_, _ = io.Copy(io.Discard, c.out)
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.String()
}

const exitedWell = "exit status 0"

// A host that is killed takes its server with it, although another process holds the server's input open.
func TestFaultR19_HostIsKilled(t *testing.T) {
	aliveR, aliveW, err := os.Pipe()
	require.NoError(t, err)
	host := reexec("host")
	host.ExtraFiles = []*os.File{aliveW}
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	require.NoError(t, aliveW.Close())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	holder, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Kill(holder, unix.SIGKILL) })

	require.NoError(t, host.Process.Kill())
	_, err = io.ReadAll(aliveR)
	require.NoError(t, err, "this ends when the server, who has the other end, has ended")
	require.NoError(t, unix.Kill(holder, 0), "the input was held open all the time")
	_ = host.Wait()
	require.NoError(t, aliveR.Close())
}

// The host that was named is watched too: the parent may be a wrapper that stays.
func TestFaultR19_NamedHostIsKilled(t *testing.T) {
	host := reexec("hold")
	require.NoError(t, host.Start())
	c := spawn(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", hostEnv, host.Process.Pid)) })
	require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
	require.NoError(t, host.Process.Kill())
	_ = host.Wait()
	require.Equal(t, exitedWell, c.ended())
}

// The server runs in a PID namespace, as in a container, and is started from outside: what the host
// knows itself by is nobody there, and must not end the session.
func TestFaultR19_HostOutsideTheNamespaceIsNotMissed(t *testing.T) {
	unshare := []string{"unshare", "--user", "--map-root-user", "--pid", "--fork"}
	if err := exec.Command(unshare[0], append(unshare[1:], "true")...).Run(); err != nil {
		t.Skipf("no PID namespaces here: %v", err)
	}
	c := spawn(t, func(cmd *exec.Cmd) {
		self := cmd.Path
		cmd.Path, cmd.Err = exec.Command(unshare[0]).Path, nil
		cmd.Args = append(unshare, self)
		cmd.Env = append(cmd.Env, hostEnv+"=2147483647") // which no system gives to a process
	})
	require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
	require.Equal(t, `2 "gone on"`, c.ask(request(2, "find", `"gone on"`)))
	require.Equal(t, exitedWell, c.end())
	require.NotContains(t, c.log.String(), "the host is gone")
}

func TestFaultR19_HostEndsTheInput(t *testing.T) {
	c := spawn(t)
	require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
	require.Equal(t, exitedWell, c.end())
}

// A signal is as the end of the input: what is in hand is still answered.
func TestFaultR20_Signals(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP} {
		c := spawn(t)
		require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
		require.NoError(t, c.cmd.Process.Signal(sig))
		require.Equal(t, exitedWell, c.ended(), sig)
	}
	c := spawn(t)
	_, err := fmt.Fprintln(c.in, request(1, "block", ""))
	require.NoError(t, err)
	require.Equal(t, `2 {"pong":true}`, c.ask(request(2, "ping", "")))
	require.NoError(t, c.cmd.Process.Signal(unix.SIGTERM))
	require.Equal(t, "1 -32800 CANCELLED", brief(t, c.line()))
	require.Equal(t, exitedWell, c.ended())
}

// A host that closes our output is gone. That must not be a death by SIGPIPE, and what cannot be
// delivered is taken back.
func TestFaultR21_OutputIsClosed(t *testing.T) {
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	c := spawn(t, func(cmd *exec.Cmd) { cmd.Stdout = outW })
	require.NoError(t, outW.Close())
	c.out = bufio.NewReader(outR)
	require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
	require.NoError(t, outR.Close())
	_, err = fmt.Fprintln(c.in, request(2, "hand_out", `{"name":"x"}`))
	require.NoError(t, err)
	require.Equal(t, exitedWell, c.ended())
	require.Contains(t, c.log.String(), "the output cannot be written any further")
}

// Nobody has to read the log. A pipe that is full, or closed, stops nothing.
func TestFaultR22_NobodyReadsTheLog(t *testing.T) {
	for _, closed := range []bool{false, true} {
		logR, logW, err := os.Pipe()
		require.NoError(t, err)
		c := spawn(t, func(cmd *exec.Cmd) { cmd.Stderr = logW })
		require.NoError(t, logW.Close())
		if closed {
			require.NoError(t, logR.Close())
		}
		require.Equal(t, "1 true", c.ask(request(1, "chatter", "")))
		require.Equal(t, "2 {}", c.ask(request(2, "change", "{}")))
		require.Equal(t, exitedWell, c.end())
		_ = logR.Close()
	}
}

// A process that was stopped goes on where it was.
func TestFaultR23_StoppedAndContinued(t *testing.T) {
	c := spawn(t)
	require.Equal(t, `0 {"pong":true}`, c.ask(request(0, "ping", "")))
	require.NoError(t, c.cmd.Process.Signal(unix.SIGSTOP))
	var status unix.WaitStatus
	_, err := unix.Wait4(c.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	for i := range 100 {
		_, err := fmt.Fprintln(c.in, request(i, "change", "{}"))
		require.NoError(t, err)
	}
	require.NoError(t, c.cmd.Process.Signal(unix.SIGCONT))
	for range 100 {
		require.NotContains(t, c.line(), "error")
	}
	require.Equal(t, exitedWell, c.end())
}

// Whatever is printed by mistake goes to stderr, and whoever reads stdin gets nothing of the requests.
func TestFaultR25_StdoutIsPure(t *testing.T) {
	c := spawn(t)
	require.Equal(t, `1 "<nil> <nil>"`, c.ask(request(1, "print", "")))
	require.Equal(t, `2 "\"\" <nil>"`, c.ask(request(2, "read_stdin", "")))
	require.Equal(t, `3 {"pong":true}`, c.ask(request(3, "ping", "")))
	require.Equal(t, exitedWell, c.end())
	for _, printed := range []string{"from fmt", "from descriptor 1", "from a child"} {
		require.Contains(t, c.log.String(), printed)
	}
}

// Without a single descriptor to spare, what is open goes on.
func TestFaultR29_NoDescriptorsLeft(t *testing.T) {
	c := spawn(t)
	require.Equal(t, "1 true", c.ask(request(1, "exhaust", "")))
	require.Equal(t, "2 {}", c.ask(request(2, "change", "{}")))
	require.Equal(t, "3 {}", c.ask(request(3, "find", "{}")))
	require.Equal(t, exitedWell, c.end())
}

func TestFaultR30_TwoServersOfOneHost(t *testing.T) {
	first, second := spawn(t), spawn(t)
	for i := range 10 {
		require.Equal(t, fmt.Sprint(i, " {}"), first.ask(request(i, "change", "{}")))
		require.Equal(t, fmt.Sprint(i, " {}"), second.ask(request(i, "change", "{}")))
	}
	require.Equal(t, exitedWell, first.end())
	require.Equal(t, `1 {"pong":true}`, second.ask(request(1, "ping", "")))
	require.Equal(t, exitedWell, second.end())
}

// The end is seen although nobody reads the answers.
func TestBlockedStdoutAndEndOfInput(t *testing.T) {
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	c := spawn(t, func(cmd *exec.Cmd) { cmd.Stdout = outW })
	require.NoError(t, outW.Close())
	for i := range 300 {
		_, err := fmt.Fprintln(c.in, request(i, "hand_out", `{"name":"x","size":4096}`))
		require.NoError(t, err)
	}
	require.NoError(t, c.in.Close())
	require.NoError(t, c.cmd.Wait())
	require.NoError(t, outR.Close())
}

// Hosts give pipes, sockets or files.
func TestStdioOfEveryKind(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		in, err := os.CreateTemp(t.TempDir(), "in")
		require.NoError(t, err)
		_, err = in.WriteString(request(1, "ping", "") + "\n" + request(2, "change", "{}") + "\n")
		require.NoError(t, err)
		_, err = in.Seek(0, io.SeekStart)
		require.NoError(t, err)
		out, err := os.CreateTemp(t.TempDir(), "out")
		require.NoError(t, err)
		c := spawn(t, func(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout = in, out })
		require.NoError(t, c.cmd.Wait())
		text, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		require.Equal(t, []string{`1 {"pong":true}`, "2 {}"}, briefs(t, split(t, wire.Lines, string(text))))
		_, _ = in.Close(), out.Close()
	})
	t.Run("a socket", func(t *testing.T) {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		require.NoError(t, err)
		ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
		c := spawn(t, func(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout = theirs, theirs })
		require.NoError(t, theirs.Close())
		c.in, c.out = ours, bufio.NewReader(ours)
		require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
		require.NoError(t, unix.Shutdown(pair[0], unix.SHUT_WR))
		require.Equal(t, exitedWell, c.ended())
		require.NoError(t, ours.Close())
	})
	t.Run("nothing", func(t *testing.T) {
		nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		require.NoError(t, err)
		c := spawn(t, func(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout = nowhere, nowhere })
		require.NoError(t, c.cmd.Wait())
		require.NoError(t, nowhere.Close())
	})
}
