package inbox

// These tests are inside because a defect of the program, and a reading that takes long, have no other front.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/engine/inbox"
)

// openTerminal returns both ends of a new terminal: the person's, and the program's.
func openTerminal(t *testing.T) (person, tty *os.File) {
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no pseudo-terminal to be had: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}))
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tty.Close() })
	return person, tty
}

// awaits reads what the program writes until it has a text.
func awaits(t *testing.T, person *os.File, text string) {
	t.Helper()
	seen := make(chan bool, 1)
	go func() { // ends with the terminal
		var all []byte
		part := make([]byte, 4096)
		for !bytes.Contains(all, []byte(text)) {
			n, err := person.Read(part)
			if err != nil {
				seen <- false
				return
			}
			all = append(all, part[:n]...)
		}
		seen <- true
	}()
	select {
	case ok := <-seen:
		require.True(t, ok, "the terminal was closed before %q", text)
	case <-time.After(10 * time.Second):
		require.Fail(t, "not written", "%q", text)
	}
}

func newScreen(tty *os.File, m *model) *screen {
	printer := output.Printer{Streams: output.Streams{In: tty, Out: tty, Err: tty}, Env: func(string) string { return "" }}
	return &screen{commands: commands{&program.App{Printer: printer}}, model: *m}
}

// A defect of the program leaves neither raw mode nor the second screen on.
func TestPanicLeavesTheTerminalAsItWas(t *testing.T) {
	person, tty := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	m := showing(question("1", "Which key?"))
	m.drafts = nil // an answer panics
	s := newScreen(tty, m)
	_, err = person.WriteString("a")
	require.NoError(t, err)
	require.PanicsWithError(t, "assignment to entry in nil map", func() { _ = s.show(t.Context()) })
	awaits(t, person, leaveScreen)
	after, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A person sees what they type while a store is read, which may take as long as inbox.Patience.
func TestTypingIsSeenWhileAStoreIsRead(t *testing.T) {
	person, tty := openTerminal(t)
	reads, answers := make(chan struct{}), make(chan struct{})
	s := newScreen(tty, showing(question("1", "Which key?")))
	s.loader = slowLoader{load: func() { close(reads); <-answers }}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.show(ctx) }()
	<-reads
	_, err := person.WriteString("?")
	require.NoError(t, err)
	awaits(t, person, "Any key goes back.")
	stop()
	close(answers)
	require.NoError(t, <-ended)
}

// A slowLoader reads for as long as a store takes.
type slowLoader struct{ load func() }

func (l slowLoader) Load(context.Context) error     { l.load(); return nil }
func (l slowLoader) Inbox() inbox.Inbox             { return inbox.Inbox{} }
func (l slowLoader) Readings() map[string]time.Time { return nil }
