package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// unprivileged returns a command of the world whose process obeys the modes of files. Root is not bound by them, so
// that its rights are taken away.
func (w world) unprivileged(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := w.command(t, args...)
	if os.Geteuid() != 0 {
		return cmd
	}
	setpriv, err := exec.LookPath("setpriv")
	if err == nil {
		err = exec.Command(setpriv, "--bounding-set=-all", "true").Run()
	}
	if err != nil {
		t.Skipf("root cannot give up its rights here: %v", err)
	}
	cmd.Args = append([]string{setpriv, "--bounding-set=-all", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = setpriv
	return cmd
}

// ended runs a command to its end and returns its exit code and what it wrote.
func ended(t *testing.T, cmd *exec.Cmd, input string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	_ = cmd.Run() // the exit code says it
	require.NotNil(t, cmd.ProcessState)
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// conversations are an empty input and one with a call that needs the store, in both languages.
var conversations = map[string]struct{ command, input string }{
	"serve, empty input": {"serve", ""},
	"serve, one call":    {"serve", `{"jsonrpc":"2.0","id":1,"method":"get_status"}` + "\n"},
	"mcp, empty input":   {"mcp", ""},
	"mcp, one call": {"mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"waybill_status","arguments":{}}}` + "\n"},
}

// requireStoreUnusable requires that every conversation of the world ends with exit code 5 and one line that says why.
func (w world) requireStoreUnusable(t *testing.T, why string) {
	t.Helper()
	t.Run("conversations", func(t *testing.T) { // ends with the last of them
		for name, c := range conversations {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				code, out, errs := ended(t, w.unprivileged(t, c.command), c.input)
				require.Equal(t, 5, code, "%s%s", out, errs)
				require.Equal(t, 1, strings.Count(errs, "waybill: the store could not be used"), errs)
				require.Contains(t, errs, why)
				require.Contains(t, errs, "waybill doctor")
			})
		}
	})
}

// The defect: the doctor was content and serve ended with 0, although no call could have made the store.
func TestUnwritableStateHomeFailsBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.Chmod(w.state, 0o555))
	code, out, _ := ended(t, w.unprivileged(t, "doctor"), "")
	require.Equal(t, 5, code, out)
	require.Regexp(t, `(?m)^fail  place +.*`+w.state, out)
	w.requireStoreUnusable(t, w.state)

	w.state = filepath.Join(w.state, "deeper", "still") // its nearest folder is the one above
	code, out, _ = ended(t, w.unprivileged(t, "doctor"), "")
	require.Equal(t, 5, code, out)

	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(w.state)), 0o755))
	code, out, _ = ended(t, w.unprivileged(t, "doctor"), "")
	require.Equal(t, 0, code, out)
	require.NoDirExists(t, w.state, "the doctor makes nothing")
	code, _, errs := ended(t, w.unprivileged(t, "serve"), "")
	require.Equal(t, 0, code, errs)
	require.NoDirExists(t, w.state, "a conversation without a call makes nothing")
}

// A folder that --store names and that cannot be made is found in the same way.
func TestUnwritableStoreFolderFailsBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed := filepath.Join(w.workspace, "closed")
	require.NoError(t, os.Mkdir(closed, 0o555))
	w.store = filepath.Join(closed, "store")
	code, out, _ := ended(t, w.unprivileged(t, "doctor"), "")
	require.Equal(t, 5, code, out)
	w.requireStoreUnusable(t, closed)
}

// The defect: serve ended with 0 although the database could not be reached, and the message named its address again
// for each try.
func TestUnreachableDatabaseIsAFailure(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := nobody.Addr().String()
	require.NoError(t, nobody.Close())
	w := newWorld(t)
	w.store = "postgres://" + address + "/x"
	for _, command := range []string{"doctor", "status"} {
		code, out, errs := ended(t, w.unprivileged(t, command), "")
		require.Equal(t, 5, code, command)
		require.Equal(t, 1, strings.Count(out+errs, address), "%s: %s%s", command, out, errs)
		require.Equal(t, 1, strings.Count(out+errs, "connection refused"), command)
	}
	w.requireStoreUnusable(t, "cannot be reached")
}

// A store that could be used at any time of the conversation makes its end a good one.
func TestServeWhoseStoreCameBackEndsWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.Chmod(w.state, 0o555))
	p := start(t, w.unprivileged(t, "serve"))
	refused, err := p.call("get_status", "{}")
	require.NoError(t, err)
	require.Equal(t, "STORE_IO_ERROR", refused.Error.Data.Code)
	require.NoError(t, os.Chmod(w.state, 0o755))
	p.must("queue_instruction", `{"content":"kept"}`, nil)
	require.NoError(t, p.in.Close())
	require.Equal(t, 0, p.end())
}

// A disk that failed while the store was examined had a whole store set aside.
func TestSalvageOnAFailingDiskLeavesAWholeStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pipe(t, request(t, "create_task", map[string]any{"prompt": "Go."}))
	out, err := w.traced(t, "pwrite64", "error=EIO:when=1", "salvage").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "STORE_IO_ERROR")
	require.Contains(t, string(out), "is not known")
	aside, err := filepath.Glob(filepath.Join(w.state, "waybill", "*", "*.corrupt-*"))
	require.NoError(t, err)
	require.Empty(t, aside)
}
