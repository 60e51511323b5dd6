package plan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/dialect"
)

func TestWordsOfStatusesAndSeverities(t *testing.T) {
	for status, want := range []string{"", "pending", "in_progress", "completed", "blocked", "skipped", "", ""} {
		require.Equal(t, want, plan.Status(status).String())
		parsed, ok := plan.ParseStatus(want)
		require.Equal(t, want != "", ok)
		require.True(t, !ok || parsed == plan.Status(status))
	}
	for _, word := range []string{"Pending", "in-progress", "done"} {
		_, ok := plan.ParseStatus(word)
		require.False(t, ok, word)
	}
	for severity, want := range []string{"", "info", "warning", "error", ""} {
		require.Equal(t, want, plan.Severity(severity).String())
	}
}

// The last folder of a tool in a path speaks, wherever the path begins.
func TestThePartOfAPathThatSpeaks(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a/.spec-workflow/specs/x/tasks.md": ".spec-workflow/specs/x/tasks.md",
		".kiro/specs/x/tasks.md":                  ".kiro/specs/x/tasks.md",
		"/a/.kiro/b/openspec/changes/tasks.md":    "openspec/changes/tasks.md",
		"/a/my.kiro/tasks.md":                     "/a/my.kiro/tasks.md",
		"":                                        "",
	} {
		require.Equal(t, want, dialect.HintPath(path))
	}
}

func TestReadingsWithoutItems(t *testing.T) {
	all := []*plan.Reading{new(plan.Reading)}
	for _, text := range []string{"", "\n", "\ufeff", "\ufeff \r\n\t\n\u00a0"} {
		r := parse(t, text)
		require.Equal(t, plan.Hash(text), r.Hash)
		all = append(all, r)
	}
	for _, r := range all {
		require.Empty(t, r.Items())
		require.Empty(t, r.Dialect)
		require.Empty(t, r.Active())
		_, ok := r.Item("1")
		require.False(t, ok)
		p, err := ledger.Progress(r, "p", "p.md", "")
		require.NoError(t, err)
		require.Nil(t, p.CurrentItem)
		_, err = ledger.Progress(r, "p", "p.md", "1")
		require.Error(t, err)
	}
}

// A plan without a single bracket had an index without a free slot: a search for an unknown id never ended.
func TestAnUnknownIDOfAPlanWithoutBoxesIsNotFound(t *testing.T) {
	text := ""
	for n := range 3 {
		text += fmt.Sprintf("- ✅ %d\n", n)
		_, ok := parse(t, text).Item("zzz")
		require.False(t, ok)
	}
}

func TestTheFirstOfEqualItemsInProgressIsCurrent(t *testing.T) {
	r := parse(t, "- [x] 1 done\n- [ ] 2 first\n- [-] 2 second\n- [-] 2 third")
	require.Equal(t, "2", r.Active())
	require.Equal(t, "first", item(t, r, "2").Title)
	p, err := ledger.Progress(r, "p", "p.md", "")
	require.NoError(t, err)
	require.Equal(t, "second", p.CurrentItem.Title)
}
