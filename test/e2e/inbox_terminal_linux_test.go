package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/schema"
)

// A sitting is a person at a terminal that the program fills.
type sitting struct {
	t       *testing.T
	control *os.File
	cmd     *exec.Cmd
	more    chan struct{} // size 1: something was written; closed at the end

	mu      sync.Mutex // guards written
	written bytes.Buffer
}

// sit starts the program on a terminal of 100 columns and 30 lines.
func (w world) sit(t *testing.T, args ...string) *sitting {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no pseudo-terminal to be had: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	fd := int(control.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	s := &sitting{t: t, control: control, cmd: w.command(t, args...), more: make(chan struct{}, 1)}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	require.NoError(t, s.cmd.Start())
	require.NoError(t, tty.Close())
	go s.read() // ends when the program has closed the terminal
	return s
}

func (s *sitting) read() {
	defer close(s.more)
	for {
		text := make([]byte, 4096)
		n, err := s.control.Read(text)
		s.mu.Lock()
		s.written.Write(text[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case s.more <- struct{}{}:
		default:
		}
	}
}

// frame returns the last whole picture, and all that was written.
func (s *sitting) frame() (last, all string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = s.written.String()
	end := strings.LastIndex(all, "\x1b[J")
	begin := strings.LastIndex(all[:max(0, end)], "\x1b[H")
	if begin < 0 {
		return "", all
	}
	return all[begin:end], all
}

// sees waits for a picture that has all the texts.
func (s *sitting) sees(texts ...string) string {
	s.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		frame, all := s.frame()
		seen := true
		for _, text := range texts {
			seen = seen && strings.Contains(frame, text)
		}
		if seen {
			return frame
		}
		select {
		case _, open := <-s.more:
			require.True(s.t, open, "it ended:\n%q", all)
		case <-late.C:
			require.Fail(s.t, "not seen", "%q in\n%s", texts, frame)
		}
	}
}

func (s *sitting) types(keys string) {
	s.t.Helper()
	_, err := s.control.WriteString(keys)
	require.NoError(s.t, err)
}

// ends waits for the end of the program, and returns its exit code and what it wrote after it left the screen.
func (s *sitting) ends() (code int, after string) {
	s.t.Helper()
	_ = s.cmd.Wait() // the code says how
	for range s.more {
	}
	_, all := s.frame()
	_, after, left := strings.Cut(all, "\x1b[?1049l")
	require.True(s.t, left, "the screen was left: %q", all)
	require.Contains(s.t, all, "\x1b[?25h")
	return s.cmd.ProcessState.ExitCode(), strings.TrimSpace(after)
}

func (p *peer) asks(question string) schema.Claim {
	p.t.Helper()
	p.must("create_task", `{"prompt":"Sort the packets."}`, nil)
	c := p.claim()
	quoted, err := json.Marshal(question)
	require.NoError(p.t, err)
	p.finish(c, `"status":"awaiting_response","question":`+string(quoted))
	return c
}

// A person answers at the terminal, sees new entries, and is told when another answer was first.
func TestInboxOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t)
	first := p.asks("By colour, or by \x1b[2Jage?")
	s := w.sit(t, "inbox")
	frame := s.sees("1 thing waits for you", "Sort the packets.: By colour, or by \uFFFD[2Jage?", "a answer", "x cancel")
	require.NotContains(t, frame, "\x1b[2J")

	s.types("\rBy agé")
	s.sees("❯ By agé")
	s.types("\x7fe\x1b\rand size\r")
	s.sees("answered", "nothing waits for you")
	var detail schema.TaskDetail
	p.must("get_task", fmt.Sprintf(`{"task_id":%q}`, first.Task.TaskID), &detail)
	require.Equal(t, "QUEUED", detail.Task.Status)
	require.Equal(t, "By age\nand size", detail.Replies[0].Reply)

	// A question that comes in meanwhile appears by itself. Another answer is first, and the text is kept.
	p.finish(p.claim(), `"status":"completed","output":"sorted"`)
	second := p.asks("How many?")
	s.sees("1 thing waits for you", "How many?")
	s.types("aSeven")
	s.sees("❯ Seven")
	p.must("reply", fmt.Sprintf(`{"task_id":%q,"reply":"Nine"}`, second.Task.TaskID), nil)
	s.sees("nothing waits for you")
	s.types("\r")
	s.sees("not sent, your text is kept", "❯ Seven")
	s.types("\x1b")
	s.sees("your text is kept until you quit")

	// A failure is retried after a second key.
	p.finish(p.claim(), `"status":"error","error":{"message":"the shelf is gone","class":"terminal"}`)
	s.sees("failed", "the shelf is gone")
	s.types("r")
	s.sees("retry Sort the packets.? y/n")
	s.types("y")
	s.sees("attempt 3 is queued", "nothing waits for you")
	s.types("q")
	code, after := s.ends()
	require.Equal(t, 0, code)
	require.Equal(t, "nothing waits for you", after)
}

// A signal leaves the terminal as it was, and the exit code says that something waits.
func TestInboxLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve(t).asks("Which shelf?")
	s := w.sit(t, "inbox")
	before := func() uint32 {
		state, err := unix.IoctlGetTermios(int(s.control.Fd()), unix.TCGETS)
		require.NoError(t, err)
		return state.Lflag & (unix.ECHO | unix.ICANON | unix.ISIG)
	}
	s.sees("Which shelf?")
	require.Zero(t, before())
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	code, after := s.ends()
	require.Equal(t, 10, code)
	require.Equal(t, "1 thing waits for you", after)
	require.Equal(t, uint32(unix.ECHO|unix.ICANON|unix.ISIG), before())
}
