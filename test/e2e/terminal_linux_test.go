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

	"waybill/schema"
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
	require.LessOrEqual(t, longest, int(width), "%q at %d:\n%s", args, width, bare)
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
		for _, args := range [][]string{{"task", "ls"}, {"task", "show", task.Task.TaskID}} {
			dressed, longest := w.fits(t, width, args...)
			require.Greater(t, longest, int(width)*9/10, "%s uses the width that there is:\n%s", args[0], dressed)
			require.NotContains(t, w.onTerminal(t, width, nil, append(args, "--json")...), "\x1b")
		}
	}
	require.Contains(t, w.onTerminal(t, 0, nil, "task", "ls"), "Find all", "a terminal that does not know its width is one of 80 columns")
}

// Every list, the status and the log fit a narrow, a usual and a wide terminal, with short ids that commands take.
func TestListsFitTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "tasks.md", "- [x] 1. Begin\n- [ ] 2. "+strings.Repeat("Find all packets. ", 30)+"\n")
	p := w.serve(t)
	p.must("init_run", `{"plan":"tasks.md","item_id":"2"}`, nil)
	p.must("queue_instruction_with_ack", fmt.Sprintf(`{"session_id":"s","content":%q,"max_retries":0}`, strings.Repeat("Water the bed. ", 30)), nil)
	p.must("dispatch_instructions", `{"session_id":"s"}`, nil)
	p.must("dispatch_instructions", `{"session_id":"s"}`, nil)
	var c schema.Claim
	for range 3 {
		c = p.asks(strings.Repeat("By colour? ", 40))
	}
	for _, width := range []uint16{40, 80, 200} {
		for _, args := range [][]string{{"task", "ls"}, {"run", "ls"}, {"instruction", "ls"}, {"plan", "show"}} {
			w.fits(t, width, args...)
		}
		require.NotContains(t, w.onTerminal(t, width, []string{"NO_COLOR=1"}, "notice", "ls"), "\x1b")
		list := w.onTerminal(t, width, nil, "task", "ls")
		require.NotContains(t, list, c.Task.TaskID)
		short := c.Task.TaskID[len(c.Task.TaskID)-8:]
		require.Contains(t, list, short)
		require.Contains(t, w.onTerminal(t, width, nil, "task", "show", short), c.Task.TaskID)
		require.Contains(t, w.onTerminal(t, width, nil, "tail", "-n", "-1"), "instruction.\x1b[31mfailed\x1b[0m")
		for line := range strings.Lines(w.onTerminal(t, width, []string{"NO_COLOR=1"}, "tail")) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), int(width), line)
		}
		for line := range strings.Lines(w.onTerminal(t, width, []string{"NO_COLOR=1"}, "status")) {
			if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, "              waybill ") && !strings.HasPrefix(line, "workspace") && !strings.HasPrefix(line, "store") {
				require.LessOrEqual(t, utf8.RuneCountInString(line), max(int(width), 58), line)
			}
		}
	}
}

// A text that is longer than the screen is shown by the pager; a short one, and one for --no-pager, is not.
func TestLongTextsAreShownByThePager(t *testing.T) {
	t.Setenv("PAGER", "sed s/^/paged:/")
	w := newWorld(t)
	p := w.serve(t)
	printed := func(args ...string) string {
		s := w.sit(t, args...)
		require.NoError(t, s.cmd.Wait())
		for range s.more {
		}
		_, all := s.frame()
		return all
	}
	p.must("create_task", `{"prompt":"Sort the packets."}`, nil)
	require.NotContains(t, printed("task", "ls"), "paged:")
	for range 40 {
		p.must("create_task", `{"prompt":"Sort the packets."}`, nil)
	}
	require.Equal(t, 42, strings.Count(printed("task", "ls"), "paged:"), "with the heads")
	require.NotContains(t, printed("task", "ls", "--no-pager"), "paged:")
	require.NotContains(t, printed("task", "ls", "--json"), "paged:")
}

// With hundreds of tasks and questions, the status stays short and begins with what a person must do.
func TestStatusStaysShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 14 {
		w.put(t, fmt.Sprintf("specs/s%02d/tasks.md", i), "- [ ] 1. Begin\n")
	}
	w.put(t, "specs/over/tasks.md", "- [x] 1. Begin\n")
	p := w.serve(t)
	for range 12 {
		p.asks("Which one?")
	}
	for range 40 {
		p.must("create_task", `{"prompt":"Sort the packets."}`, nil)
	}
	said, err := w.command(t, "status").Output()
	require.NoError(t, err)
	text := string(said)
	require.LessOrEqual(t, strings.Count(text, "\n"), 36, text)
	require.Regexp(t, `^question      for \S+: Which one\?\n              waybill task reply tsk_`, text)
	require.Contains(t, text, "\n              … 7 more: waybill task ls --status awaiting\n")
	require.Contains(t, text, "\n              … 5 more open: waybill plan ls\nplans         1 finished: waybill plan ls\n")
}
