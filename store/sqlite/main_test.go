package sqlite_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
	"waybill/store/sqlite"
	"waybill/test/slow"
)

// childEnv names the part that this test binary plays when a test runs it as another process.
const childEnv = "SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	if part := os.Getenv(childEnv); part != "" {
		os.Exit(play(part))
	}
	if slow.Race {
		_ = flag.Set("rapid.checks", "20") // the command line may say otherwise
	}
	goleak.VerifyTestMain(m)
}

// path returns the name of a store in a directory of its own.
func path(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }

// fastDir returns a directory where a sync costs nothing, if there is one: for tests that make many
// stores and are about something else.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "store-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// open opens a store and closes it with the test.
func open(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// openNew opens a store in a directory of its own.
func openNew(t testing.TB) (s *sqlite.Store, at string) {
	t.Helper()
	at = path(t)
	return open(t, sqlite.Options{Path: at}), at
}

func fileText(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// update runs fn in an Update that must succeed.
func update(t testing.TB, s store.Store, fn func(tx store.Tx) error) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), fn))
}

// appendOne appends a record.
func appendOne(tx store.Tx) error {
	_, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "plan", At: 1, Data: `{"n":1}`})
	return err
}

// newest returns the number of the newest record.
func newest(t testing.TB, s store.Store) (seq int64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) (err error) {
		_, seq, err = tx.Bounds()
		return err
	}))
	return seq
}

// fault fails t unless err is a *store.Error of that kind, and returns it.
func fault(t testing.TB, err error, kind store.Kind) *store.Error {
	t.Helper()
	var e *store.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "kind of: %v", err)
	return e
}

// requireFault is fault for who wants to know no more.
func requireFault(t testing.TB, err error, kind store.Kind) {
	t.Helper()
	_ = fault(t, err, kind)
}

// notOpened fails t unless a store is refused with that kind of error, which it returns.
func notOpened(t testing.TB, o sqlite.Options, kind store.Kind) *store.Error {
	t.Helper()
	_, err := sqlite.Open(t.Context(), o)
	return fault(t, err, kind)
}

// notApplied is fault for an error that says that nothing was applied.
func notApplied(t testing.TB, err error, kind store.Kind) *store.Error {
	t.Helper()
	e := fault(t, err, kind)
	require.Equal(t, store.NotApplied, e.Outcome)
	return e
}

// sound fails t unless the whole store is what was written.
func sound(t testing.TB, s store.Store) {
	t.Helper()
	damage, err := s.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, damage)
}

// child is this test binary as another process.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// command prepares a child that plays the part; wrapper is put before its command line.
func command(t testing.TB, part, store string, wrapper ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	line := append(wrapper, self)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+part, "STORE="+store)
	cmd.Stderr = os.Stderr
	return cmd
}

// start starts a child that the test can talk to. It is killed when the test ends.
func start(t testing.TB, cmd *exec.Cmd) *child {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &child{Cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

// line waits for a line of the child.
func (c *child) line(t testing.TB) string {
	t.Helper()
	require.True(t, c.out.Scan(), "the child has ended")
	return c.out.Text()
}

// holding starts a child that has the lock of the store, within an Update.
func holding(t testing.TB, path string) *child {
	t.Helper()
	c := start(t, command(t, "hold", path))
	require.Equal(t, "holding", c.line(t))
	return c
}

// release lets a child that holds the lock come to its end.
func (c *child) release(t testing.TB) {
	t.Helper()
	_, err := fmt.Fprintln(c.in)
	require.NoError(t, err)
	require.Empty(t, c.rest())
}

// end lets a child come to its end, and fails t if it has anything more to say.
func (c *child) end(t testing.TB) {
	t.Helper()
	require.NoError(t, c.in.Close())
	require.Empty(t, c.rest())
	require.NoError(t, c.Wait())
}

func (c *child) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
}

// rest returns all further lines of the child, which ends.
func (c *child) rest() (lines []string) {
	for c.out.Scan() {
		lines = append(lines, c.out.Text())
	}
	return lines
}

// numbers reads the numbers that a child has printed.
func numbers(t testing.TB, lines []string) (all []int64) {
	t.Helper()
	for _, line := range lines {
		n, err := strconv.ParseInt(line, 10, 64)
		require.NoError(t, err)
		all = append(all, n)
	}
	return all
}

// say writes one line at once: who is killed has said what it said.
func say(args ...any) { _, _ = fmt.Fprintln(os.Stdout, args...) }

// describe returns an error as "kind outcome", for the test that started us.
func describe(err error) string {
	e, ok := errors.AsType[*store.Error](err)
	switch {
	case !ok:
		return "other " + err.Error()
	case e.Outcome == store.Unknown:
		return e.Kind.String() + " unknown"
	}
	return e.Kind.String() + " not_applied"
}

func noteWith(s store.Store, t testing.TB, part string) bool {
	return strings.Contains(strings.Join(s.Status(t.Context()).Degraded, "\n"), part)
}

// newInstruction returns a queued, tracked instruction.
func newInstruction(n int64) instruction.Instruction {
	return instruction.Instruction{
		ID: benchID(n), Session: "default", Content: "look", Tracked: true, MaxRetries: 3,
		CreatedAt: 1, Position: n, Phase: instruction.Queued{},
	}
}

func acknowledge(tx store.Tx, n int64) error {
	in, _, err := tx.Instruction(benchID(n))
	if err != nil {
		return err
	}
	in.Phase = instruction.Acknowledged{At: 2, By: instruction.ByCall}
	return tx.PutInstruction(in)
}

func requireInstructions(t testing.TB, s store.Store, want int64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		n, err := tx.CountInstructions(store.InstructionQuery{})
		require.EqualValues(t, want, n)
		return err
	}))
}

// stepper starts a child that does what it is asked, line by line.
func stepper(t *testing.T, path string) *child {
	t.Helper()
	return start(t, command(t, "steps", path))
}

func (c *child) ask(t *testing.T, what string) string {
	t.Helper()
	_, err := fmt.Fprintln(c.in, what)
	require.NoError(t, err)
	return c.line(t)
}
