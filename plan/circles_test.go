package plan_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// circle returns the ids that the message about a circle names.
func circle(message string) []string {
	_, path, _ := strings.Cut(message, ": ")
	path, _, _ = strings.Cut(path, " (")
	return strings.Split(path, " -> ")
}

// Whatever a plan says: an item that never gets ready, however much of the rest is finished, waits for a circle
// that was reported, or for what is not in the plan or blocked; and what a circle names never gets done.
func TestWhatNeverGetsReadyIsBehindSomethingReported(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	stuck, free := 0, 0
	for range 3000 {
		text := randomTree(random, random.IntN(2) == 0)
		r := parse(t, text)
		circles := diagnostics(r, "dependency_cycle")
		waiting := worked(r)
		if len(waiting) == 0 {
			free++
		} else {
			stuck++
		}
		known := map[string]bool{}
		for _, d := range circles {
			for _, id := range circle(d.Message) {
				known[id] = true
			}
		}
		for id := range waiting {
			require.True(t, explained(r, id, known), "%s is stuck for no reason that was reported:\n%s", id, text)
		}
		if !strings.ContainsAny(text, "x~") {
			for id := range known {
				parent := item(t, r, id).DerivedStatus != 0 // which may be done while what is optional below it waits
				require.True(t, waiting[id] || parent, "%s is on no circle: %v\n%s", id, circles, text)
			}
		}
	}
	require.Greater(t, stuck, 300)
	require.Greater(t, free, 300)
}

func randomTree(random *rand.Rand, pending bool) string {
	var ids []string
	for a := 1; a <= 1+random.IntN(4); a++ {
		ids = append(ids, fmt.Sprint(a))
		for b := 1; b <= random.IntN(4); b++ {
			ids = append(ids, fmt.Sprintf("%d.%d", a, b))
			for c := 1; c <= random.IntN(3); c++ {
				ids = append(ids, fmt.Sprintf("%d.%d.%d", a, b, c))
			}
		}
	}
	var text strings.Builder
	for _, id := range ids {
		mark, star := " ", ""
		if !pending && random.IntN(3) == 0 {
			mark = string("x~-!"[random.IntN(4)])
		}
		if random.IntN(6) == 0 {
			star = "*"
		}
		indent := strings.Repeat("  ", strings.Count(id, "."))
		fmt.Fprintf(&text, "%s- [%s]%s %s t\n", indent, mark, star, id)
		if random.IntN(5) == 0 {
			on := ids[random.IntN(len(ids))]
			if random.IntN(12) == 0 {
				on = "77"
			}
			fmt.Fprintf(&text, "%s  - _Depends: %s_\n", indent, on)
		}
	}
	return text.String()
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
		ready := plan.Ready(r.Items(), run)
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
