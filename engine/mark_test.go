package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/test/teststore"
)

const markedPlan = "# Implementation Plan\n- [ ] 1. a\n- [ ]* 2. b\n- [ ] 3. c\nend\n"

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

// completed returns a plan text with some items completed.
func completed(text string, items ...string) string {
	for _, item := range items {
		text = strings.NewReplacer("[ ] "+item, "[x] "+item, "[ ]* "+item, "[x]* "+item).Replace(text)
	}
	return text
}

// requireFile asserts that the workspace holds only the plan with this text.
func requireFile(t *testing.T, dir, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tasks.md"))
	require.NoError(t, err)
	require.Equal(t, want, string(text))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// atEachStep lets a writer set the first item of markedPlan repeatedly, and calls happens at another step each time.
func atEachStep(t *testing.T, dir string, happens func(path string) error, then func(writer, error)) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("this system replaces no file that is being read")
	}
	path := filepath.Join(dir, "tasks.md")
	for moment := int64(1); ; moment++ {
		require.NoError(t, os.WriteFile(path, []byte(markedPlan), 0o644))
		var left atomic.Int64 // how often the clock is still looked at before it happens
		w := newWriter(t, dir, planfile.Options{Now: func() time.Time {
			if left.Add(-1) == 0 {
				if err := happens(path); err != nil {
					t.Error(err)
				}
			}
			return time.Now()
		}})
		left.Store(moment)
		err := w.complete(t, "1")
		if left.Load() > 0 {
			require.NoError(t, err)
			require.Greater(t, moment, int64(2), "the clock is not looked at any more: find other moments")
			return
		}
		left.Store(0)
		then(w, err)
	}
}

// A save or another writer at any step of a write is kept. The item is set in it, or the writer reports a conflict, or
// the save overwrites the item.
func TestSaveWhileAnItemIsSetIsKept(t *testing.T) {
	theirs := strings.Replace(markedPlan, "end", "the end, says the editor", 1)
	editors := map[string]func(path string) error{
		// vim moves the file away, writes a new one of that name and removes the old one.
		"moved away": func(path string) error {
			return errors.Join(os.Rename(path, path+"~"), os.WriteFile(path, []byte(theirs), 0o644), os.Remove(path+"~"))
		},
		// sed -i writes a file beside it, which takes its name.
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".sed", []byte(theirs), 0o644), os.Rename(path+".sed", path))
		},
		// Most others truncate the file and write it again.
		"truncated": func(path string) error { return os.WriteFile(path, []byte(theirs), 0o644) },
		"a writer":  nil,
	}
	for how, save := range editors {
		t.Run(how, func(t *testing.T) {
			dir, saved, refused := t.TempDir(), theirs, 0
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte(markedPlan), 0o644))
			if save == nil {
				other := newWriter(t, dir, planfile.Options{})
				save, saved = func(string) error { return other.complete(t, "2") }, completed(markedPlan, "2")
			}
			atEachStep(t, dir, save, func(w writer, err error) {
				if err != nil {
					refused++
					conflict, ok := errors.AsType[*planfile.ConflictError](err)
					require.True(t, ok, "%v", err)
					require.Equal(t, planfile.ConflictError{
						Path: "tasks.md", Expected: plan.Hash([]byte(markedPlan)), Found: plan.Hash([]byte(saved)), Swapped: conflict.Swapped,
					}, *conflict)
					requireFile(t, dir, saved)
				}
				if text, _ := os.ReadFile(filepath.Join(dir, "tasks.md")); string(text) == saved { // refused or overwritten
					require.NoError(t, w.complete(t, "1"))
				}
				requireFile(t, dir, completed(saved, "1"))
			})
			require.Positive(t, refused)
		})
	}
}

// A half-written file must not be replaced, because the editor would write the rest into the removed file.
func TestHalfSavedPlanIsNotWritten(t *testing.T) {
	for _, half := range []int{0, strings.Index(markedPlan, "- [ ] 3")} {
		dir, story := t.TempDir(), ""
		var file *os.File
		atEachStep(t, dir, func(path string) (err error) {
			if file, err = os.Create(path); err == nil {
				_, err = file.WriteString(markedPlan[:half])
			}
			return err
		}, func(_ writer, err error) {
			if err == nil {
				story += "truncated afterwards "
			} else {
				story += "refused "
				conflict, ok := errors.AsType[*planfile.ConflictError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, plan.Hash([]byte(markedPlan)), conflict.Expected)
			}
			_, err = file.WriteString(markedPlan[half:])
			require.NoError(t, errors.Join(err, file.Close()))
			requireFile(t, dir, markedPlan)
		})
		require.Regexp(t, "^(refused )+(truncated afterwards )*$", story)
	}
}
