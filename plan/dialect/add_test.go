package dialect_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/edit"
	"waybill/plan/lex"
	"waybill/plan/read"
)

// kanban is the dialect of docs/add-a-dialect.md: "- [>] Paint the door [K-12]" below columns of a board.
var kanban = dialect.Dialect{
	Name: "kanban",
	Fits: func(s *dialect.Survey) int { return s.Unnumbered - s.Numbered },
	Label: func(text string, l *dialect.Label) {
		title, id, ok := strings.Cut(text, " [K-")
		if l.Title = text; ok {
			l.ID, l.Title = "K-"+strings.TrimSuffix(id, "]"), lex.Trim(title)
		}
	},
	Marks: []dialect.Meaning{{Mark: ">", Status: plan.InProgress}},
	Boxes: dialect.Signs{plan.Pending: {" "}, plan.InProgress: {">"}, plan.Completed: {"x"}},
	Texts: dialect.Texts{Usable: "a space, > or x", Wanted: "put an id such as [K-1] after the title", Missing: "no id such as [K-1]", Stop: " "},
}

// A dialect is one row: with it in the lists, plans are found, read and written in it.
func TestADialectIsOneRow(t *testing.T) {
	all, listed := dialect.All, dialect.Listed
	defer func() { dialect.All, dialect.Listed = all, listed }()
	dialect.All, dialect.Listed = append([]*dialect.Dialect{&kanban}, all...), append(listed[:len(listed):len(listed)], &kanban)

	r, err := read.Read("# Board\n- [x] Sand the door [K-1]\n- [>] Paint the door [K-2]\n  - Depends on: K-1\n", plan.Hints{})
	require.NoError(t, err)
	require.Equal(t, "kanban", r.Dialect)
	it, ok := r.Item("K-2")
	require.True(t, ok)
	require.Equal(t, "Paint the door", it.Title)
	require.Equal(t, plan.InProgress, it.Status)
	require.Equal(t, []string{"K-1"}, it.DependsOn)

	marked, err := edit.Set(r, plan.Marking{Plan: "board.md", ItemID: "K-2", Status: plan.Completed})
	require.NoError(t, err)
	require.Contains(t, marked.Text, "- [x] Paint the door [K-2]")
}
