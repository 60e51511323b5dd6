package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/test/teststore"
)

// planTexts are plans of the writable dialects. Each has the items one and two, and a last line.
var planTexts = map[string]struct{ text, one, two string }{
	"spec-context":  {"- [ ] 1. a\n  - _Prompt: b_\n- [ ] 2. b\n- [ ] 3. c\nend\n", "1", "2"},
	"spec-workflow": {"- [~] 1. a\n  - _Blocked: b_\n- [-] 2. b\n- [ ] 3. c\nend\n", "1", "2"},
	"kiro":          {"# Implementation Plan\n- [ ] 1. a\n- [ ]* 2. b\n- [ ] 3. c\nend\n", "1", "2"},
	"spec-kit":      {"## Phase 1: A\n- [ ] T001 [P] a\n- [-] T002 b\n- [ ] T003 c\nend\n", "T001", "T002"},
	"openspec":      {"## 1. A\n- [ ] 1.1 a\n  - [ ] b\n- [ ] 1.3 c\nend\n", "1.1", "1.1/1"},
	"cc-sdd":        {"- [ ] 1. a (P)\n  - _Boundary: B_\n- [-] 2. b\n- [ ] 3. c\nend\n", "1", "2"},
	"ai-dev-tasks":  {"- [ ] 1.0 a\n  - [ ] 1.1 b\n- [ ] 2.0 c\nend\n", "1.0", "1.1"},
	"superpowers":   {"### Task 1: A\n- [ ] **Step 1: a**\n- [ ] **Step 2: b**\n### Task 2: C\n- [ ] **Step 1: c**\nend\n", "1.1", "1.2"},
	"agent-os":      {"#### Task Group 1: A\n- [ ] 1.0 a\n  - [ ] 1.1 b\n- [ ] 2.0 c\nend\n", "1.0", "1.1"},
	"conductor":     {"## [~] Track: A\n- [~] Task: a [checkpoint: 4c1d9aa]\n    - [ ] b\n- [ ] Task: c\nend\n", "a/1", "a/1/1"},
	"bmad":          {"## Tasks / Subtasks\n- [ ] Task 1: a (AC: 1)\n  - [ ] b\n- [ ] Task 2: c\nend\n", "1", "1/1"},
	"ccpm":          {"## Tasks Created\n- [ ] 001.md - A (parallel: true)\n- [ ] 002.md - B (parallel: true)\n- [ ] 003.md - C (parallel: true)\nend\n", "001", "002"},
	"table":         {"| ID | Title | Status |\n|---|---|---|\n| T1 | a | todo |\n| T2 | b | in progress |\n| T3 | c | done |\n\nend\n", "T1", "T2"},
	"loose":         {"\ufeff- [ ] a\r\n- ⏳ b\r\n- [ ] c\r\nend\r\n", "item/1", "item/2"},
}

// exchanges reports whether the system can swap two files atomically, so that a file saved at the last moment is not
// lost.
const exchanges = runtime.GOOS == "linux" || runtime.GOOS == "darwin"

// A writer is an engine of another process.
type writer struct {
	*engine.Engine
	*engine.Plans
}

func newWriter(t *testing.T, dir string, o planfile.Options) writer {
	t.Helper()
	root, err := planfile.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	w := writer{Plans: engine.NewPlans(root, engine.PlanOptions{})}
	w.Engine = build(t, engine.Options{Open: open(teststore.New(t)), Plans: w.Plans})
	runEngine(t, w.Engine)
	_, err = w.Plan(t.Context(), "tasks.md")
	require.NoError(t, err)
	return w
}

// complete sets an item to completed.
func (w writer) complete(t *testing.T, item string) error {
	change := &engine.StatusChange{Marking: plan.Marking{Plan: "tasks.md", ItemID: item, Status: plan.Completed}}
	out := <-submit(t.Context(), w.Engine, engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		set, err := tx.SetItemStatus(change)
		return set, err
	}})
	return out.err
}

// insist sets an item despite conflicts, and counts them.
func (w writer) insist(t *testing.T, item string) (conflicts int, err error) {
	for {
		err = w.complete(t, item)
		if _, ok := errors.AsType[*planfile.ConflictError](err); !ok {
			return conflicts, err
		}
		conflicts++
	}
}

// done returns a plan text with some items completed.
func done(t *testing.T, text string, items ...string) string {
	t.Helper()
	for _, item := range items {
		r, err := plan.Read(text, plan.Hints{})
		require.NoError(t, err)
		marked, err := r.Marked(plan.Marking{ItemID: item, Status: plan.Completed})
		require.NoError(t, err)
		text = marked.Text
	}
	return text
}

func fileText(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tasks.md"))
	require.NoError(t, err)
	return string(text)
}

// requireNoOtherFiles asserts that the workspace holds only the plan.
func requireNoOtherFiles(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// eachPlanText runs a test in a workspace with each plan text.
func eachPlanText(t *testing.T, test func(t *testing.T, dir, text, one, two string)) {
	for dialect, b := range planTexts {
		t.Run(dialect, func(t *testing.T) {
			r, err := plan.Read(b.text, plan.Hints{})
			require.NoError(t, err)
			require.Equal(t, dialect, r.Dialect)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte(b.text), 0o644))
			test(t, dir, b.text, b.one, b.two)
		})
	}
}

// Two writers repeatedly set different items of one plan.
func TestTwoWritersOfOnePlanLoseNothing(t *testing.T) {
	if !exchanges {
		t.Skip("this system cannot exchange two names in one step")
	}
	eachPlanText(t, func(t *testing.T, dir, text, one, two string) {
		var wg sync.WaitGroup
		for _, item := range []string{one, two} {
			w := newWriter(t, dir, planfile.Options{})
			wg.Go(func() {
				if _, err := w.insist(t, item); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Equal(t, done(t, text, one, two), fileText(t, dir))
		requireNoOtherFiles(t, dir)
	})
}

// A second writer interrupts the first at every step: both succeed, or the first reports a conflict.
func TestSecondWriterInTheMiddleOfTheFirstIsAConflict(t *testing.T) {
	eachPlanText(t, func(t *testing.T, dir, text, one, two string) {
		other := newWriter(t, dir, planfile.Options{})
		conflicts := 0
		atEachStep(t, dir, text, one, func() error { return other.complete(t, two) }, func(t *testing.T, w writer, err error) {
			if err != nil {
				conflicts++
				requireConflict(t, err, text, done(t, text, two))
				require.Equal(t, done(t, text, two), fileText(t, dir))
				require.NoError(t, w.complete(t, one))
			}
			require.Equal(t, done(t, text, one, two), fileText(t, dir))
			requireNoOtherFiles(t, dir)
		})
		require.Positive(t, conflicts)
	})
}

// requireConflict asserts that a writer reported the text that it found.
func requireConflict(t *testing.T, err error, expected, found string) {
	t.Helper()
	conflict, ok := errors.AsType[*planfile.ConflictError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, planfile.ConflictError{
		Path: "tasks.md", Expected: plan.Hash([]byte(expected)), Found: plan.Hash([]byte(found)), Swapped: conflict.Swapped,
	}, *conflict)
}

// atEachStep lets a writer set an item repeatedly, and calls happens at another step each time.
func atEachStep(t *testing.T, dir, text, item string, happens func() error, then func(*testing.T, writer, error)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("this system replaces no file that is being read")
	}
	for moment := int64(1); ; moment++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte(text), 0o644))
		var left atomic.Int64 // how often the clock is still looked at before it happens
		w := newWriter(t, dir, planfile.Options{Now: func() time.Time {
			if left.Add(-1) == 0 {
				if err := happens(); err != nil {
					t.Error(err)
				}
			}
			return time.Now()
		}})
		left.Store(moment)
		err := w.complete(t, item)
		if left.Load() > 0 {
			require.NoError(t, err)
			require.Greater(t, moment, int64(2), "the clock is not looked at any more: find other moments")
			return
		}
		left.Store(0)
		then(t, w, err)
	}
}
