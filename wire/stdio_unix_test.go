//go:build unix

package wire_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/wire"
)

// echo prints and reads in every way that a program may, then copies the input that it took over to the output.
func echo() int {
	in, out, err := wire.Stdio()
	if err != nil {
		return 70
	}
	fmt.Println("from fmt")
	_, _ = unix.Write(unix.Stdout, []byte("from descriptor 1\n"))
	child := exec.Command("/bin/echo", "from a child")
	child.Stdout = os.Stdout
	text, err := io.ReadAll(os.Stdin)
	fmt.Printf("stdin %q %v %v\n", text, err, child.Run())
	if _, err := io.Copy(out, in); err != nil {
		return 71
	}
	return 0
}

// startEcho runs echo in a process, and returns what it prints when it has ended.
func startEcho(t *testing.T, in, out *os.File) (printed func() string) {
	t.Helper()
	var log strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), echoEnv+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &log
	require.NoError(t, cmd.Start())
	return func() string {
		require.NoError(t, cmd.Wait())
		return log.String()
	}
}

// Printed text goes to stderr, and the program reads nothing of the connection from its stdin.
func TestStdioMayBePipesSocketsOrFiles(t *testing.T) {
	pipe := func() (*os.File, *os.File) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		return r, w
	}
	for name, open := range map[string]func() (in, toIn, out, fromOut *os.File){
		"pipes": func() (in, toIn, out, fromOut *os.File) {
			in, toIn = pipe()
			fromOut, out = pipe()
			return in, toIn, out, fromOut
		},
		"a socket": func() (in, toIn, out, fromOut *os.File) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			require.NoError(t, err)
			unix.CloseOnExec(pair[0])
			unix.CloseOnExec(pair[1])
			fromOut, out = pipe()
			return os.NewFile(uintptr(pair[0]), "theirs"), os.NewFile(uintptr(pair[1]), "ours"), out, fromOut
		},
		"a file": func() (in, toIn, out, fromOut *os.File) {
			path := filepath.Join(t.TempDir(), "in")
			require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
			in, err := os.Open(path)
			require.NoError(t, err)
			fromOut, out = pipe()
			return in, nil, out, fromOut
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, toIn, out, fromOut := open()
			printed := startEcho(t, in, out)
			_, _ = in.Close(), out.Close()
			if toIn != nil {
				_, err := toIn.WriteString("text")
				require.NoError(t, err)
				require.NoError(t, toIn.Close())
			}
			text, err := io.ReadAll(fromOut)
			require.NoError(t, err)
			require.Equal(t, "text", string(text))
			require.Equal(t, "from fmt\nfrom descriptor 1\nfrom a child\nstdin \"\" <nil> <nil>\n", printed())
			require.NoError(t, fromOut.Close())
		})
	}
}

// A process that shares the pipe, such as a shell, must not notice that the server does not wait in it.
func TestStdioKeepsTheModeOfTheHostsPipes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a pipe cannot be opened once more here")
	}
	in, toIn, err := os.Pipe()
	require.NoError(t, err)
	fromOut, out, err := os.Pipe()
	require.NoError(t, err)
	printed := startEcho(t, in, out)
	_, err = toIn.WriteString("x")
	require.NoError(t, err)
	_, err = fromOut.Read(make([]byte, 1))
	require.NoError(t, err)
	for _, shared := range []*os.File{in, out} {
		raw, err := shared.SyscallConn() // Fd would change the mode
		require.NoError(t, err)
		var flags int
		require.NoError(t, raw.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }))
		require.NoError(t, err)
		require.Zero(t, flags&unix.O_NONBLOCK)
	}
	require.NoError(t, toIn.Close())
	printed()
	_, _, _ = in.Close(), out.Close(), fromOut.Close()
}
