package hook

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/cli/hook/dialect"
	"waybill/cli/output"
	"waybill/cli/program"
)

// hookOf returns a hook of a host with an event as its input, in an empty folder, and the reading end of its answer.
func hookOf(t *testing.T, host dialect.Host, event string) (h *hook, answer *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "event")
	require.NoError(t, os.WriteFile(path, []byte(event), 0o600))
	in, err := os.Open(path)
	require.NoError(t, err)
	answer, out, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _, _ = in.Close(), out.Close(), answer.Close() })
	app := &program.App{Workspace: t.TempDir()}
	app.Printer = output.Printer{Streams: output.Streams{In: in, Out: out, Err: out}, Env: func(string) string { return "" }}
	return &hook{App: app, host: host}, answer
}

// The dispatch was committed, and the host had got its empty answer before.
func TestWhatWasHandedOutTooLateCountedAsSent(t *testing.T) {
	cursor, ok := dialect.Of("cursor") // it gets an object in every case
	require.True(t, ok)
	h, answer := hookOf(t, cursor, "")
	stop, ok := cursor.Event("stop")
	require.True(t, ok)
	now := time.Now()
	r := &runner{hook: h, agent: h.handler(dialect.Input{Event: stop}), times: times{now, now, now.Add(time.Minute), now.Add(time.Minute)}}
	sends := 1
	err := r.answer(t.Context(), func(context.Context) (dialect.Answer, error) {
		text := make([]byte, 3)
		_, err := answer.Read(text)
		require.NoError(t, err)
		require.Equal(t, "{}\n", string(text))
		r.agent.OnUndo(func() { sends-- })
		return dialect.Answer{Hold: "too late"}, nil
	})
	require.ErrorContains(t, err, "gave up on stop: the time is over")
	require.Zero(t, sends)
}

func TestTheGraceOfAHookWasLongerThanItsHostWaits(t *testing.T) {
	for _, whole := range []time.Duration{time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second, 10 * time.Minute} {
		began := time.Now()
		got := (&hook{timeout: whole}).within(began, time.Hour)
		require.True(t, began.Before(got.act), whole)
		require.True(t, got.act.Before(got.answer), whole)
		require.True(t, got.answer.Before(got.undo), whole)
		require.True(t, got.undo.Before(got.end), whole)
		require.True(t, got.end.Before(began.Add(whole)), whole)
		require.Equal(t, got, (&hook{}).within(began, whole))
	}
}

// A panic ends a process with 2, and with 2 Claude Code refuses the prompt.
func TestAPanicEndedTheHook(t *testing.T) {
	h, _ := hookOf(t, dialect.Host{}, "{}") // a row without fields: reading and writing both panic
	require.ErrorContains(t, h.run(t.Context()), "a fault in waybill: ")
}

// Behind `waybill acp`, the agent's hooks would hand the same instructions over a second time.
func TestHooksThatAreSwitchedOffDoNothing(t *testing.T) {
	for host, want := range map[string]string{"claude-code": "", "cursor": "{}\n"} {
		row, ok := dialect.Of(host)
		require.True(t, ok)
		h, answer := hookOf(t, row, `{"hook_event_name":"Stop","session_id":"s"}`)
		h.Env = func(name string) string { return map[string]string{program.HooksVariable: "off"}[name] }
		given := h.Out
		require.NoError(t, h.run(t.Context()))
		_, _, _ = given.Close(), h.Out.Close(), h.Err.Close() // run has descriptors of its own for the pipe
		got, err := io.ReadAll(answer)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}
