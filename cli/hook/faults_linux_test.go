package hook_test

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"waybill/cli"
	"waybill/cli/hook/dialect"
	"waybill/schema"
)

// quiet sends an event of each host, and expects no hold, an answer that the host can read, and one line about the fault.
func (w *world) quiet(input, want string) {
	w.t.Helper()
	began := time.Now()
	stdout, stderr := w.raw(input)
	require.Less(w.t, time.Since(began), 30*time.Second)
	if w.host == "cursor" {
		require.Contains(w.t, []string{"{}\n", "{\"continue\":true}\n"}, stdout)
	} else {
		require.Empty(w.t, stdout)
	}
	require.Equal(w.t, 1, strings.Count(stderr, "\n"), stderr)
	require.True(w.t, strings.HasPrefix(stderr, "waybill hook: "), stderr)
	require.Less(w.t, len(stderr), 600)
	require.Contains(w.t, stderr, want)
}

// stopEvents are a stop of each host.
func (w *world) stopEvents() map[string]string {
	return map[string]string{
		"claude-code": w.event("Stop", nil), "codex": w.event("Stop", nil), "qwen": w.event("Stop", nil), "copilot": w.event("Stop", nil),
		"opencode": w.event("Stop", nil), "gemini": w.event("AfterAgent", nil),
		"cursor": fmt.Sprintf(`{"hook_event_name":"stop","conversation_id":"s","workspace_roots":[%q],"status":"completed","loop_count":0}`, w.workspace),
	}
}

func TestEachHostGoesOnAfterAnEventThatCannotBeRead(t *testing.T) {
	for _, host := range dialect.Names() {
		w := newWorld(t)
		w.host = host
		w.call("queue_instruction", `{"content":"a store must exist"}`, nil)
		w.quiet(w.stopEvents()[host][:20], "the event is not JSON")
		w.quiet("Hello.", "the event is not JSON")
		w.quiet("", "the event is not JSON")
		w.quiet(`{"hook_event_name":"Melt","hookEventName":"Melt"}`, `"Melt" of `+host+` is no event`)
		w.quiet(`{"version":9}`, "the event has no hook_event_name")
		w.quiet(`{"hook_event_name":"Stop","session_id":"`+strings.Repeat(" ", 33<<20)+`"}`, "the event has more than 33554432 bytes")
		w.quiet(`{"hook_event_name":"Melt","hookEventName":"Melt"}`, `"Melt" of `+host+` is no event`)
		melts := 0
		for _, text := range w.notices() {
			if strings.Contains(text, `"Melt"`) {
				melts++
			}
		}
		require.Equal(t, 1, melts, "the same fault is told once")
	}
}

func TestAHookOfAnotherWaybillOrWithAWrongFlagLetsTheHostGoOn(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"hook"},
		{"hook", "emacs"},
		{"hook", "claude-code", "--bogus"},
		{"--bogus", "hook", "claude-code"},
		{"hook", "claude-code", "--timeout", "soon"},
		{"--store", "mysql://x", "hook", "claude-code"},
		{"--config", "/nowhere/config.json", "hook", "claude-code"},
		{"hook", "claude-code", "more"},
	} {
		code, stdout, stderr := w.run(w.event("Stop", nil), args...)
		require.Zero(t, code, "%q: Claude Code takes 2 for a refusal of the prompt", args)
		require.Empty(t, stdout)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		require.True(t, strings.HasPrefix(stderr, "waybill hook: "), stderr)
	}
}

func TestAWorkspaceThatCannotBeResolved(t *testing.T) {
	w := newWorld(t)
	w.workspace = filepath.Join(w.workspace, "gone")
	for host, event := range w.stopEvents() {
		if host != "cursor" {
			w.host = host
			w.quiet(event, "there is no workspace")
		}
	}
}

// An event that does not end must not hold the agent up.
func TestAnEventThatDoesNotEnd(t *testing.T) {
	w := newWorld(t)
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _, _ = in.Close(), out.Close() }()
	w.in = in
	w.flags = []string{"--timeout", "500ms"}
	w.quiet("", "the event does not end")
}

// lockFile returns the lock file of the only store.
func (w *world) lockFile() *os.File {
	w.t.Helper()
	for _, path := range w.stores() {
		if strings.HasSuffix(path, ".lock") {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(w.t, err)
			w.t.Cleanup(func() { _ = f.Close() })
			return f
		}
	}
	require.Fail(w.t, "there is no lock file")
	return nil
}

// Another process that holds the store for a minute is waited for within the time of the host, and no longer.
func TestAStoreThatIsLockedForAMinute(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction", `{"content":"Mind the gap."}`, nil)
	lock := w.lockFile()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	w.flags = []string{"--timeout", "1s"}
	for host, event := range w.stopEvents() {
		w.host = host
		w.quiet(event, "")
	}
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	w.host, w.flags = "claude-code", nil
	require.Equal(t, "Mind the gap.", w.stopped(false).Reason, "what was not handed over is still due")
}

func (w *world) database() string { return strings.TrimSuffix(w.lockFile().Name(), ".lock") }

func TestAStoreThatIsDamaged(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction", `{"content":"Mind the gap."}`, nil)
	require.NoError(t, os.WriteFile(w.database(), []byte(strings.Repeat("not a database ", 9999)), 0o600))
	for host, event := range w.stopEvents() {
		w.host = host
		w.quiet(event, "")
	}
}

func TestAStoreOfANewerVersion(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction", `{"content":"Mind the gap."}`, nil)
	db, err := sql.Open("sqlite", w.database())
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 999")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for host, event := range w.stopEvents() {
		w.host = host
		w.quiet(event, "newer")
	}
}

func TestAStoreOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", w.state).CombinedOutput(); err != nil {
		t.Skipf("mounting a file system takes root: %v %s", err, out)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(w.state, unix.MNT_DETACH)) })
	w.call("queue_instruction_with_ack", `{"content":"Mind the gap.","session_id":"s"}`, nil)
	ballast := filepath.Join(w.state, "ballast")
	require.Error(t, os.WriteFile(ballast, make([]byte, 8<<20), 0o600))
	handedOver := 0
	for host, event := range w.stopEvents() {
		w.host = host
		stdout, stderr := w.raw(event)
		require.LessOrEqual(t, strings.Count(stderr, "\n"), 1, stderr)
		if strings.Contains(stdout, "Mind the gap.") {
			handedOver++
		}
	}
	require.NoError(t, os.Remove(ballast))
	var list schema.InstructionList
	w.call("list_instructions", `{"session_id":"s"}`, &list)
	require.Len(t, list.Items, 1)
	require.Equal(t, handedOver, list.Items[0].Sends, "a send that was not written was not handed over")
}

// A host that dies, or closes the pipe, has not taken what was handed over.
func TestASendThatTheHostDidNotTakeIsNoSend(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction_with_ack", `{"content":"Mind the gap."}`, nil)
	in, out, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, in.Close())
	w.out = out
	_, stderr := w.raw(w.event("UserPromptSubmit", nil))
	require.Contains(t, stderr, "the host did not take the answer, so nothing counts as sent")
	require.NoError(t, out.Close())
	w.out = nil
	require.Zero(t, w.only().Sends)
	require.Equal(t, "Mind the gap.", w.hook("UserPromptSubmit", nil).context())
}

// Go ends a process that writes to a closed pipe with descriptor 1 or 2, and the agent would see that. So this is a process.
func TestClosedOutputsEndNoHook(t *testing.T) {
	const variable = "WAYBILL_TEST_WORKSPACE"
	if workspace := os.Getenv(variable); workspace != "" {
		os.Exit(cli.Main([]string{"--workspace", workspace, "hook", "claude-code"}, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "dev"))
	}
	w := newWorld(t)
	w.call("queue_instruction_with_ack", `{"content":"Mind the gap."}`, nil)
	in, out, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, in.Close())
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), variable+"="+w.workspace)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(w.event("UserPromptSubmit", nil)), out, out
	require.NoError(t, cmd.Run())
	require.NoError(t, out.Close())
	require.Zero(t, w.only().Sends)
}

// Parallel tool calls of many agents run their hooks at the same time.
func TestFiftyHooksAtOnce(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.call("queue_instruction_with_ack", fmt.Sprintf(
			`{"content":"number %d","max_retries":9,"ack_on":{"event_type":"tool","match":{"tool_input.command":"make %d"}}}`, i, i), nil)
	}
	w.call("queue_instruction", `{"content":"once"}`, nil)
	var texts sync.Map
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			w.hook("PostToolUse", bash(fmt.Sprintf("toolu_%d", i), fmt.Sprintf("make %d", i)))
			if i%10 == 0 {
				texts.Store(i, w.hook("UserPromptSubmit", nil).context())
			}
		})
	}
	all.Wait()
	var list schema.InstructionList
	w.call("list_instructions", `{"limit":100}`, &list)
	for _, in := range list.Items {
		require.Contains(t, []string{"acknowledged", "delivered"}, in.State, in.Content)
	}
	once := 0
	texts.Range(func(_, text any) bool {
		once += strings.Count(text.(string), "once")
		return true
	})
	require.Equal(t, 1, once)
	require.Empty(t, w.notices())
}
