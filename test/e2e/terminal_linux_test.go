package e2e_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal runs the program with a terminal of that width as its standard output, and returns what it
// writes there.
func (w world) onTerminal(t *testing.T, width uint16, env []string, args ...string) string {
	t.Helper()
	written, err := w.triedOnTerminal(t, width, env, args...)
	require.NoError(t, err)
	return written
}

// triedOnTerminal is onTerminal for a program that may fail, and returns how it ended, too.
func (w world) triedOnTerminal(t *testing.T, width uint16, env []string, args ...string) (string, error) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no pseudo-terminal to be had: %v", err)
	}
	defer func() { _ = control.Close() }()
	fd := int(control.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	cmd := w.command(t, args...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout = tty
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	written, err := io.ReadAll(control) // it ends with an error when the program has closed its end
	require.ErrorIs(t, err, unix.EIO)
	err = cmd.Wait()
	return strings.ReplaceAll(string(written), "\r\n", "\n"), err
}

// fits shows what a command writes to a terminal of that width, and the length of its longest line. No line is longer than
// the terminal is wide, and there is no colour for a person who wants none.
func (w world) fits(t *testing.T, width uint16, args ...string) (dressed string, longest int) {
	t.Helper()
	dressed = w.onTerminal(t, width, nil, args...)
	bare := regexp.MustCompile(`\x1b\[[\d;]+m`).ReplaceAllString(dressed, "")
	require.NotEqual(t, bare, dressed)
	require.NotContains(t, bare, "\x1b")
	for line := range strings.Lines(bare) {
		longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
	}
	require.LessOrEqual(t, longest, int(width), "%s at %d:\n%s", args[0], width, bare)
	require.NotContains(t, w.onTerminal(t, width, []string{"NO_COLOR=1"}, args...), "\x1b")
	require.NotContains(t, w.onTerminal(t, width, nil, append(args, "--no-color")...), "\x1b")
	return dressed, longest
}

// The lines of ls and show fit the terminal, and are coloured only for one that wants it.
func TestTasksFitTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t)
	p.must("create_task", fmt.Sprintf(`{"prompt":%q,"models":[{"provider_id":"acme","model_id":"large"}]}`, strings.Repeat("Find all packets. ", 30)), nil)
	task := p.claim()
	p.finish(task, fmt.Sprintf(`"status":"error","error":{"message":%q,"class":"terminal"}`, strings.Repeat("It cannot be. ", 30)))

	for _, width := range []uint16{76, 120, 200} {
		for _, args := range [][]string{{"ls"}, {"show", task.Task.TaskID}} {
			dressed, longest := w.fits(t, width, args...)
			require.Greater(t, longest, int(width)*9/10, "%s uses the width that there is:\n%s", args[0], dressed)
			require.NotContains(t, w.onTerminal(t, width, nil, append(args, "--json")...), "\x1b")
		}
	}
	require.Contains(t, w.onTerminal(t, 0, nil, "ls"), "Find all", "a terminal that does not know its width is one of 80 columns")
}
