//go:build unix

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// board writes a plan with so many open items, whose text makes it long enough that a half of it would show.
func (w world) board(t *testing.T, items int) (path, text string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\ufeff# Board\r\n\r\n")
	for i := range items {
		fmt.Fprintf(&b, "- [ ] %d. Item\r\n  - Purpose: %s\r\n", i+1, strings.Repeat("row upon row ", 20))
	}
	path = filepath.Join(w.workspace, "board.md")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o640))
	return path, b.String()
}

// plain returns a text of a board as if nothing in it had been done.
func plain(text string) string { return strings.ReplaceAll(text, "- [x] ", "- [ ] ") }

// done returns the items of a board that are done.
func done(t *testing.T, text string) map[string]bool {
	t.Helper()
	r, err := plan.Read(text, plan.Hints{})
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, it := range r.Items() {
		if it.Status == plan.Completed {
			ids[it.ID] = true
		}
	}
	return ids
}

// complete sets an item of the board. conflict reports that somebody else was faster, and nothing was written.
func (s *switchboard) complete(item int) (set, conflict bool, err error) {
	r, ok := s.call("set_item_status", fmt.Sprintf(`{"plan":"board.md","item_id":"%d","status":"completed"}`, item))
	switch {
	case !ok:
		return false, false, nil
	case r.Error == nil:
		return true, false, nil
	case r.Error.Data.Code == "CONFLICT":
		return false, true, nil
	}
	return false, false, fmt.Errorf("item %d: %+v", item, *r.Error)
}

// Two processes set the items of one plan at the same time, each its own: with one store, in which they take
// turns, and with a store each, in which they know nothing of one another. What was answered is in the file, what
// met a conflict was not written, and no other byte is touched.
func TestTwoProcessesSetItemsAndLoseNone(t *testing.T) {
	t.Parallel()
	for name, stores := range map[string][2][]string{
		"one store": {}, "a store each": {{"--store", "a"}, {"--store", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			const each, callers = 40, 4
			w := newWorld(t)
			path, text := w.board(t, 2*each)
			var wg sync.WaitGroup
			var mu sync.Mutex // guards set and failed
			set := map[string]bool{}
			var failed []error
			for i, args := range stores {
				for k := range args {
					if k == 1 {
						args[k] = filepath.Join(t.TempDir(), args[k])
					}
				}
				p := w.serve(t, args...)
				p.must("get_plan", `{"plan":"board.md"}`, nil)
				s := p.share()
				for j := range callers {
					wg.Go(func() { // ends when the items are through
						for item := i*each + j + 1; item <= (i+1)*each; item += callers {
							ok, conflict, err := s.complete(item)
							for conflict && err == nil {
								ok, conflict, err = s.complete(item)
							}
							mu.Lock()
							if err != nil {
								failed = append(failed, err)
							}
							set[fmt.Sprint(item)] = ok
							mu.Unlock()
						}
					})
				}
			}
			wg.Wait()
			require.Empty(t, failed)
			require.Len(t, set, 2*each)
			is, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, set, done(t, string(is)))
			require.Equal(t, text, plain(string(is)))
			w.clean(t)
		})
	}
}

// clean asserts that no temporary file was left in the workspace.
func (w world) clean(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(w.workspace, ".waybill-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// A process is killed again and again while it sets items. The plan has the old text or the new one at any
// moment, and all that was answered.
func TestKillLeavesTheOldPlanOrTheNewOne(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, seed))
	const items, callers, kills = 400, 4, 6
	w := newWorld(t)
	path, text := w.board(t, items)
	var next atomic.Int64
	answered := map[string]bool{}
	for range kills {
		p := w.serve(t)
		p.must("get_plan", `{"plan":"board.md"}`, nil)
		s := p.share()
		enough, some := make(chan struct{}), r.Int64N(20) // closed by the caller that gets the decisive answer
		var count atomic.Int64
		var mu sync.Mutex // guards answered
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() { // ends with the process
				for {
					item := int(next.Add(1))
					ok, conflict, err := s.complete(item)
					if err != nil || conflict {
						t.Errorf("item %d: conflict %v, %v", item, conflict, err)
					}
					if !ok {
						return
					}
					mu.Lock()
					answered[fmt.Sprint(item)] = true
					mu.Unlock()
					if count.Add(1) == some+1 {
						close(enough)
					}
				}
			})
		}
		<-enough
		require.NoError(t, p.cmd.Process.Kill())
		wg.Wait()
		_ = p.cmd.Wait() // it says "killed", which is no news
		is, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, plain(string(is)), "a half of the plan")
		got := done(t, string(is))
		for item := range answered {
			require.True(t, got[item], "item %s was answered and is lost", item)
		}
	}
	require.NotEmpty(t, answered)
	require.Less(t, int(next.Load()), items, "there were not enough items for this test")

	// What the dead have left is no plan, and hinders nobody.
	p := w.serve(t)
	var plans struct{ Items []struct{ Path string } }
	p.must("list_plans", `{}`, &plans)
	for _, item := range plans.Items {
		require.NotContains(t, item.Path, ".waybill-")
	}
	p.must("set_item_status", fmt.Sprintf(`{"plan":"board.md","item_id":"%d","status":"completed"}`, items), nil)
}

// A host that writes a status hears of it as of any other edit, once, and so does the host of another process.
func TestStatusThatIsWrittenIsAnnouncedToAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.board(t, 3)
	writer, reader := w.serve(t), w.serve(t)
	for _, p := range []*peer{writer, reader} {
		p.must("get_plan", `{"plan":"board.md"}`, nil)
	}
	writer.must("set_item_status", `{"plan":"board.md","item_id":"2","status":"in_progress"}`, nil)
	reader.awaitChange("2")
	for _, p := range []*peer{writer, reader} {
		var events struct {
			Events []struct {
				Type string `json:"type"`
				Data struct {
					Changed []string `json:"changed_ids"`
				} `json:"data"`
			} `json:"events"`
		}
		p.must("events_since", `{"cursor":"0"}`, &events)
		require.Len(t, events.Events, 1)
		require.Equal(t, "ledger.changed", events.Events[0].Type)
		require.Equal(t, []string{"2"}, events.Events[0].Data.Changed)
		var plan struct {
			Items []struct{ Status string }
		}
		p.must("get_plan", `{"plan":"board.md"}`, &plan)
		require.Equal(t, "in_progress", plan.Items[1].Status)
	}
}
