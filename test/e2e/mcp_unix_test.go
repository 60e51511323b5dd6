//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// Hosts of both eras of the protocol.
var eras = []string{"2025-11-25", "2026-07-28"}

// A guest is a client of the SDK, and the program that it has spawned.
type guest struct {
	*sdk.ClientSession
	t   *testing.T
	cmd *exec.Cmd
}

// visit spawns `waybill mcp` and connects a client of an era to it.
func (w world) visit(t *testing.T, era string, o *sdk.ClientOptions) *guest {
	t.Helper()
	cmd := w.command(t, "mcp")
	cmd.Stderr = os.Stderr
	// The context of the test ends before its folders are removed. A supervisor that is killed cannot wait for its worker.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	client := sdk.NewClient(&sdk.Implementation{Name: "guest", Version: "1"}, o)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	require.NoError(t, err)
	require.Equal(t, era, session.InitializeResult().ProtocolVersion)
	t.Cleanup(func() { _ = session.Close() })
	return &guest{session, t, cmd}
}

// Standard output carries protocol and nothing else, whatever is said on the way.
func TestMCPStandardOutputIsPure(t *testing.T) {
	t.Parallel()
	cmd := newWorld(t).command(t, "mcp", "--http")
	var log bytes.Buffer
	cmd.Env = append(cmd.Env, "WAYBILL_LOG=debug")
	cmd.Stderr = &log
	cmd.Stdin = strings.NewReader("nonsense\n" +
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ready_items","arguments":{"plan":"no/such.md"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"waybill://ledger/progress"}}`)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NotEmpty(t, log.String())
	require.Equal(t, 4, bytes.Count(out, []byte("\n")))
	for line := range bytes.Lines(out) {
		require.True(t, json.Valid(line), "%s", line)
		require.True(t, bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0",`)), "%s", line)
	}
}

// A host that is killed takes the program with it, although another process holds the program's input open.
func TestMCPLeavesWhenItsHostDies(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the host of this test is a bash script, and there is no bash")
	}
	alive, aliveW, err := os.Pipe()
	require.NoError(t, err)
	held, heldW, err := os.Pipe() // its writing end stays here
	require.NoError(t, err)
	defer func() { _ = heldW.Close() }()
	inner := newWorld(t).command(t, "mcp")
	host := exec.Command(bash, "-c", `"$0" mcp <&4 >&3 & exec 3>&- 4<&-; echo here; wait`, inner.Path)
	host.Env, host.Dir, host.ExtraFiles = inner.Env, inner.Dir, []*os.File{aliveW, held}
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	require.NoError(t, aliveW.Close())
	require.NoError(t, held.Close())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	_, err = fmt.Fprintln(heldW, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	require.NoError(t, err)
	require.NoError(t, alive.SetReadDeadline(time.Now().Add(patience)))
	answer := &peer{t: t, out: bufio.NewReader(alive)}
	_, err = answer.answer(1)
	require.NoError(t, err)

	require.NoError(t, host.Process.Signal(syscall.SIGKILL))
	_, err = answer.out.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the end comes when the program, which alone holds the other end, is gone")
	_ = host.Wait()
}

// nodeTests, set to "required", makes a test fail that could not find what it needs of Node.
const nodeTests = "WAYBILL_NODE_TESTS"

// nodeIn returns the node program, if there is one and the packages of a folder are installed.
func nodeIn(t *testing.T, dir string) string {
	t.Helper()
	slow.Test(t)
	node, err := exec.LookPath("node")
	missing := ""
	if err != nil {
		missing = "there is no node"
	} else if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		missing = "the packages are not installed: npm ci --ignore-scripts in " + dir
	}
	if missing == "" {
		return node
	}
	require.NotEqual(t, "required", os.Getenv(nodeTests), missing)
	t.Skip(missing)
	return ""
}

// The clients with which most hosts are built: that of the first SDK in TypeScript, and that of the second in its
// three ways to find out what a server speaks.
func TestMCPTypeScriptHosts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("mcp", "testdata", "typescript")
	node := nodeIn(t, dir)
	script, err := filepath.Abs(filepath.Join(dir, "session.mjs"))
	require.NoError(t, err)
	for _, client := range []string{"sdk", "client", "client-auto", "client-modern"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			inner := newWorld(t).command(t, "mcp")
			cmd := exec.CommandContext(t.Context(), node, script, client, inner.Path, "mcp")
			cmd.Env, cmd.Dir, cmd.Stderr, cmd.WaitDelay = inner.Env, inner.Dir, os.Stderr, patience
			out, err := cmd.Output()
			require.NoError(t, err)
			var saw struct {
				Server                       string
				Instructions, Claimed, Wrong bool
				Tools, Prompts, Resources    []string
				Updated                      string
				Awaiting                     struct{ Items []struct{ Question string } }
				Replied, Task                map[string]any
				Unknown, Queued              int
			}
			require.NoError(t, json.Unmarshal(out, &saw), "%s", out)
			require.Equal(t, "waybill", saw.Server)
			require.True(t, saw.Instructions)
			require.Len(t, saw.Tools, 12)
			require.NotEmpty(t, saw.Prompts)
			require.Contains(t, saw.Resources, "waybill://awaiting")
			require.True(t, saw.Claimed)
			require.Equal(t, "waybill://awaiting", saw.Updated)
			require.Equal(t, "Keep the old column?", saw.Awaiting.Items[0].Question)
			require.Equal(t, "QUEUED", saw.Replied["new_status"])
			require.Equal(t, "QUEUED", saw.Task["status"])
			require.True(t, saw.Wrong)
			require.Equal(t, -32602, saw.Unknown)
			require.Equal(t, 100, saw.Queued)
		})
	}
}
