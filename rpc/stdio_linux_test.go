package rpc_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The pipes of a server do not wait, but whoever shares them with it must not notice.
func TestStdioLeavesTheHostsPipesAsTheyAre(t *testing.T) {
	in, w, err := os.Pipe()
	require.NoError(t, err)
	c := spawn(t, func(cmd *exec.Cmd) { cmd.Stdin = in })
	c.in = w
	require.Equal(t, `1 {"pong":true}`, c.ask(request(1, "ping", "")))
	raw, err := in.SyscallConn() // for Fd would change what is to be seen
	require.NoError(t, err)
	var flags int
	require.NoError(t, raw.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }))
	require.NoError(t, err)
	require.Zero(t, flags&unix.O_NONBLOCK)
	require.Equal(t, exitedWell, c.end())
	require.NoError(t, in.Close())
}
