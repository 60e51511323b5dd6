package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
	"waybill/plan/edit"
	"waybill/plan/read"
	"waybill/test/slow"
)

// This file holds what is true of marks in the plans of every dialect that is written.

// eachWritten runs a property over plans of each dialect that is written, in the forms that files come in.
func eachWritten(t *testing.T, property func(t *rapid.T, text string)) {
	fixtures := byDialect(t)
	forEachDialect(t, func(t *testing.T, dialect string) {
		if _, _, written := marksOf(dialect); !written {
			return
		}
		rapid.Check(t, func(t *rapid.T) {
			text := drawPlanOf(t, dialect, fixtures[dialect])
			property(t, inForm(rapid.SampledFrom(slices.Sorted(maps.Keys(forms))).Draw(t, "form"), text))
		})
	})
}

// Each item, set to each status, is refused with a reason, or no byte but its mark changes and the plan reads
// with that status for that item alone.
func TestOnlyTheMarkChangesInRandomPlansOfEachDialect(t *testing.T) {
	eachWritten(t, func(t *rapid.T, text string) {
		r := parse(t, text)
		items := r.Items()
		some := 4 // of each plan, which are all of them over many plans
		if slow.Race {
			some = 1
		}
		first := rapid.IntRange(0, len(items)-1).Draw(t, "first")
		for _, it := range items[first:min(first+some, len(items))] {
			for _, to := range settable {
				checkMarkedIn(t, text, r, items, it, to, false)
			}
		}
	})
}

// The same holds for what is a plan of no tool at all.
func TestOnlyTheMarkChangesInAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if text := drawText(t); parsed(text) {
			checkEveryMarkIn(t, text, true)
		}
	})
}

func parsed(text string) bool {
	_, err := read.Read(text, plan.Hints{})
	return err == nil
}

// Many items are set one after the other, in any order, some of them several times. The plan has the last
// status of each, and without its marks it is the plan that it was.
func TestMarksThatFollowOneAnother(t *testing.T) {
	eachWritten(t, func(t *rapid.T, text string) {
		if isFolder(text) {
			return // of which each file has lines of its own
		}
		now := parse(t, text)
		was, want := unmarked(now, text), statuses(now)
		for range rapid.IntRange(1, 8).Draw(t, "marks") {
			items := now.Items()
			it := items[rapid.IntRange(0, len(items)-1).Draw(t, "item")]
			to := rapid.SampledFrom(settable).Draw(t, "status")
			marked, err := edit.Set(now, plan.Marking{Plan: "tasks.md", ItemID: it.ID, Line: it.Line, Status: to})
			if err != nil {
				continue // for a reason that the other test looks at
			}
			text, want[place(it)] = marked.Text, to
			now = parse(t, text)
			require.Equal(t, want, statuses(now))
		}
		require.Equal(t, was, unmarked(now, text))
	})
}

// place names an item by its id and its line.
func place(it plan.Item) string { return fmt.Sprint(it.ID, "@", it.Line) }

// statuses returns the status of each item with a mark. Those without one follow what is below them.
func statuses(r *plan.Reading) map[string]plan.Status {
	all := map[string]plan.Status{}
	for _, it := range r.Items() {
		if it.Mark.End > 0 {
			all[place(it)] = it.Status
		}
	}
	return all
}

// unmarked returns a text without the marks of its items.
func unmarked(r *plan.Reading, text string) string {
	var b strings.Builder
	at := 0
	for _, it := range r.Items() {
		if it.Mark.End > 0 {
			b.WriteString(text[at:it.Mark.Start])
			at = it.Mark.End
		}
	}
	return b.String() + text[at:]
}
