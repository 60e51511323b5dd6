//go:build unix

package hook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"waybill/check/trust"
	"waybill/internal/ownfile"
	"waybill/schema"
)

// place returns where the checks of the world are trusted.
func (w *world) place() trust.Place {
	w.t.Helper()
	_, stdout, stderr := w.run("", "where", "--json")
	var where struct {
		Root     string `json:"root"`
		StateDir string `json:"state_dir"`
	}
	require.NoError(w.t, json.Unmarshal([]byte(stdout), &where), stderr)
	return trust.Place{Root: where.Root, StateDir: where.StateDir}
}

// trusted declares checks and trusts them, as a person would.
func (w *world) trusted(text string) {
	w.t.Helper()
	w.write(".waybill.toml", text)
	p := w.place()
	require.NoError(w.t, os.MkdirAll(p.StateDir, 0o700))
	require.NoError(w.t, p.Keep([]byte(text)))
}

// counting returns a command that counts how often it ran, by a file outside of the workspace.
func counting(t *testing.T) (command string, ran func() int) {
	path := filepath.Join(t.TempDir(), "ran")
	return "echo x >> " + path, func() int {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0
		}
		return strings.Count(string(text), "x")
	}
}

func TestARedCheckHoldsTheStopUntilItIsGreen(t *testing.T) {
	w := newWorld(t)
	count, ran := counting(t)
	w.trusted("[[check]]\nname = \"todo\"\nrun = \"" + count + "; ! grep TODO cart.go\"\n\n[[check]]\nname = \"never\"\nrun = \"exit 1\"\nwhen = \"plan\"\n")
	w.write("cart.go", "package cart // TODO\n")
	got := w.stopped(false)
	require.Equal(t, "block", got.Decision)
	require.Contains(t, got.Reason, "The check todo is red (exit status 1):")
	require.Contains(t, got.Reason, "  | package cart // TODO")
	w.write("cart.go", "package cart\n")
	require.Zero(t, w.stopped(true))
	require.Equal(t, 2, ran())
	require.Zero(t, w.stopped(false))
	require.Equal(t, 2, ran(), "on the files on which it was green it does not run again")
	w.write("cart.go", "package cart // TODO\n")
	for i := range w.holds() {
		require.Equal(t, "block", w.stopped(i > 0).Decision)
	}
	got = w.stopped(true)
	require.Empty(t, got.Decision)
	require.Contains(t, got.SystemMessage, "still open: The check todo is red")
	require.Len(t, w.notices(), 1)
	require.Zero(t, w.hook("SubagentStop", map[string]any{"agent_id": "a", "stop_hook_active": false}), "it is not the work of the subagent")
}

func TestAnUntrustedFileIsNotRun(t *testing.T) {
	w := newWorld(t)
	count, ran := counting(t)
	w.write(".waybill.toml", "[[check]]\nname = \"a\"\nrun = \""+count+"; exit 1\"\n")
	got := w.stopped(false)
	require.Empty(t, got.Decision)
	require.Equal(t, "waybill: no person has trusted .waybill.toml yet, so none of its checks runs: waybill check trust", got.SystemMessage)
	w.trusted("[[check]]\nname = \"a\"\nrun = \"" + count + "; exit 1\"\n")
	w.write(".waybill.toml", "[[check]]\nname = \"a\"\nrun = \""+count+"; exit 0\"\n")
	require.Contains(t, w.stopped(false).SystemMessage, "has changed since a person trusted it")
	require.Zero(t, ran())
}

// Under waybill work, the checks of the run are run there; a second execution at the same time could break both.
func TestAWorkerOfWaybillWorkIsNotHeldByChecks(t *testing.T) {
	w := newWorld(t)
	w.trusted("[[check]]\nname = \"a\"\nrun = \"exit 1\"\n")
	t.Setenv("WAYBILL_TASK_ID", "tsk_1")
	require.Zero(t, w.stopped(false))
	t.Setenv("WAYBILL_TASK_ID", "")
	require.Equal(t, "block", w.stopped(false).Decision)
}

// The host would end a hook that waits for a long check, and never learn why.
func TestACheckThatDoesNotFitIntoTheTimeOfTheHookSaysSo(t *testing.T) {
	w := newWorld(t)
	w.trusted("[[check]]\nname = \"slow\"\nrun = \"exec sleep 60\"\n")
	w.flags = []string{"--timeout", "2s"}
	got := w.stopped(false)
	require.Empty(t, got.Decision)
	require.Contains(t, got.SystemMessage, "waybill: check slow was stopped after")
	require.Contains(t, got.SystemMessage, "waybill check runs it")
}

// A run that waits for its checks gets their receipts when the agent would stop.
func TestChecksOfARunAreReported(t *testing.T) {
	w := newWorld(t)
	w.trusted("[[check]]\nname = \"todo\"\nrun = \"! grep TODO cart.go\"\n")
	w.write("cart.go", "package cart\n")
	run := w.waiting()
	require.Zero(t, w.stopped(false))
	var receipts schema.ReceiptList
	w.call("list_receipts", `{"run_id":"`+run+`"}`, &receipts)
	require.Len(t, receipts.Items, 1)
	require.Equal(t, "green", receipts.Items[0].Outcome)
	require.Equal(t, "waybill hook", receipts.Items[0].Runner)
	var runs schema.RunList
	w.call("list_runs", `{"run_id":"`+run+`"}`, &runs)
	require.Empty(t, runs.Items[0].Proof.Due)
}

// waiting returns a run that waits for the check todo.
func (w *world) waiting() (run string) {
	w.t.Helper()
	var begun schema.InitRunResult
	w.call("init_run", `{"plan":"tasks.md","item_id":"1","policy":{"require_checks":["todo"],"facts":"off"}}`, &begun)
	run = begun.Run.RunID
	w.call("ingest_output", `{"run_id":"`+run+`","role":"worker","output":"role: worker\ntask_id: 1\nkey: `+w.key(run)+`\nstatus: pass\ngit_range: a1b2c3d..d4e5f6a\n\nDone."}`, nil)
	return run
}

// A check that a run waits for is one of the workspace, too.
func TestACheckOfARunRanTwiceAtOneStop(t *testing.T) {
	w := newWorld(t)
	count, ran := counting(t)
	w.trusted("[[check]]\nname = \"todo\"\nrun = \"" + count + "; ! grep TODO cart.go\"\n")
	w.write("cart.go", "package cart // TODO\n")
	w.waiting()
	reason := w.stopped(false).Reason
	require.Equal(t, 1, strings.Count(reason, "The check todo is red"), reason)
	require.Equal(t, 1, ran())
}

func TestHooksAtOnceRanACheckInParallel(t *testing.T) {
	w := newWorld(t)
	count, ran := counting(t)
	busy := filepath.Join(t.TempDir(), "busy")
	w.trusted("[[check]]\nname = \"a\"\nrun = \"mkdir " + busy + " && " + count + " && rmdir " + busy + "\"\n")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { assert.Zero(t, w.stopped(false)) })
	}
	all.Wait()
	require.Equal(t, 1, ran(), "the other hooks find the files green")
}

func TestAHookWaitedForTheChecksOfAnotherWithoutEnd(t *testing.T) {
	w := newWorld(t)
	count, ran := counting(t)
	w.trusted("[[check]]\nname = \"a\"\nrun = \"" + count + "\"\n")
	folder := filepath.Join(w.place().StateDir, "hooks")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	lock, err := ownfile.TryLock(filepath.Join(folder, "checks.lock"))
	require.NoError(t, err)
	require.NotNil(t, lock)
	w.flags = []string{"--timeout", "2s"}
	got := w.stopped(false)
	require.Empty(t, got.Decision)
	require.Equal(t, "waybill: another hook ran checks for too long, so their outcome is not known here: waybill check runs them", got.SystemMessage)
	require.Zero(t, ran())
	require.NoError(t, lock.Close())
	require.Zero(t, w.stopped(false))
	require.Equal(t, 1, ran())
}

// key returns the result key of the prompt of a worker.
func (w *world) key(run string) string {
	w.t.Helper()
	_, stdout, stderr := w.run(`{"run_id":"`+run+`","role":"worker"}`, "call", "compile_prompt", "-")
	_, after, found := strings.Cut(stdout, "Result key: ")
	require.True(w.t, found, stdout+stderr)
	return after[:strings.IndexAny(after, `\"`)]
}
