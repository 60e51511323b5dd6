package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/graph"
)

// circle returns the ids that the message about a circle names.
func circle(message string) []string {
	_, path, _ := strings.Cut(message, ": ")
	path, _, _ = strings.Cut(path, " (")
	return strings.Split(path, " -> ")
}

// requireStuckIsExplained checks that an item that never gets ready, however much of the rest is finished, waits for a
// circle that was reported, or for what is not in the plan or blocked; and that what a circle names never gets done.
func requireStuckIsExplained(t require.TestingT, text string, r *plan.Reading) {
	circles := diagnostics(r, "dependency_cycle")
	waiting, known := worked(r), map[string]bool{}
	for _, d := range circles {
		if strings.Contains(d.Message, "waves") {
			return // it names no items
		}
		for _, id := range circle(d.Message) {
			known[id] = true
		}
	}
	begun := false
	for _, it := range r.Items() {
		begun = begun || it.Status != plan.Pending
	}
	for id := range waiting {
		require.True(t, explained(r, id, known), "%s is stuck for no reason that was reported:\n%s", id, text)
	}
	for id := range known {
		it, ok := r.Item(id)
		if begun || !ok || it.DerivedStatus != 0 {
			continue // which may be done while what is optional below it waits
		}
		require.True(t, waiting[id], "%s is on no circle: %v\n%s", id, circles, text)
	}
}

func TestWhatNeverGetsReadyIsBehindSomethingReported(t *testing.T) {
	forEachShape(t, withoutIDs, func(t *testing.T, dialect string, s shape) {
		rapid.Check(t, func(t *rapid.T) {
			waits := map[int]int{}
			for n := 1; n <= 9; n++ {
				if on := rapid.IntRange(0, 12).Draw(t, "on"); on > 0 {
					waits[n] = on
				}
			}
			text := s.plan(dialect, s.nine(waits))
			r := parse(t, text)
			requireStuckIsExplained(t, text, r)
		})
	})
}

// worked finishes what can be begun until nothing can, and returns the items that are not done then.
func worked(r *plan.Reading) map[string]bool {
	done := map[string]bool{}
	run := func(id string) plan.ItemRun {
		if done[id] {
			return plan.RunDone
		}
		return plan.NoRun
	}
	for {
		ready := graph.Ready(r.Items(), run)
		more := ready.Ready
		for _, w := range ready.Waiting {
			if len(w.Because) == 1 && w.Because[0].Kind == plan.HeldByWork {
				more = append(more, w.ItemID) // somebody finishes it
			}
		}
		if len(more) == 0 {
			waiting := map[string]bool{}
			for _, w := range ready.Waiting {
				if w.Because[0].Kind != plan.HeldByEnd {
					waiting[w.ItemID] = true
				}
			}
			return waiting
		}
		for _, id := range more {
			done[id] = true
		}
	}
}

// explained follows what an item waits for until something comes that is known, blocked or not in the plan.
func explained(r *plan.Reading, id string, known map[string]bool) bool {
	below := map[string][]string{}
	for _, it := range r.Items() {
		below[it.ParentID] = append(below[it.ParentID], it.ID)
	}
	seen := map[string]bool{}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		id := next[0]
		if seen[id] {
			continue
		}
		seen[id] = true
		it, ok := r.Item(id)
		if !ok || known[id] || it.Status == plan.Blocked {
			return true
		}
		next = append(next, below[id]...)
		for ; ok; it, ok = r.Item(it.ParentID) {
			next = append(next, it.DependsOn...)
		}
	}
	return false
}
