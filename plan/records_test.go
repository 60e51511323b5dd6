package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/test/golden"
)

// recordPlans returns the text of each fixture, a folder joined.
func recordPlans(t testing.TB) map[string]string {
	paths, err := filepath.Glob("testdata/records/*")
	require.NoError(t, err)
	plans := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		switch filepath.Ext(name) {
		case ".golden":
		case ".txtar":
			plans[name] = joined(txtar.Parse(src))
		default:
			plans[name] = string(src)
		}
	}
	return plans
}

func joined(archive *txtar.Archive) string {
	var files []plan.PlanFile
	for _, f := range archive.Files {
		files = append(files, plan.PlanFile{Name: f.Name, Text: string(f.Data)})
	}
	return plan.JoinFiles(files)
}

func TestRecordsReadAsTheGoldenFilesSay(t *testing.T) {
	plans := recordPlans(t)
	require.GreaterOrEqual(t, len(plans), 12)
	for name, text := range plans {
		t.Run(name, func(t *testing.T) {
			r, err := plan.Parse([]byte(text))
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(name, r.Dialect), r.Dialect)
			checkRecordLaws(t, text)
			golden.Equal(t, "records/"+name+".golden", dump([]byte(text), r))
		})
	}
}

// checkRecordLaws is checkLaws for a text that may be a folder.
func checkRecordLaws(t require.TestingT, text string) {
	files, folder := plan.SplitFiles(text)
	if !folder {
		checkLaws(t, []byte(text))
		return
	}
	boxes := 0
	names := map[string]int{}
	for k, f := range files {
		boxes += countCheckboxes([]byte(f.Text))
		names[f.Name] = k
	}
	r, err := plan.Parse([]byte(text))
	if err != nil {
		refusal, ok := errors.AsType[*plan.ParseError](err)
		require.True(t, ok, "%T", err)
		require.NotEmpty(t, refusal.Message)
		if refusal.Reason == plan.ReasonNoItems {
			require.Equal(t, refusal.Checkboxes, countNotTasks(refusal.Diagnostics))
		}
		return
	}
	require.Equal(t, boxes, r.Checkboxes, "%q", text)
	require.Equal(t, boxes, countNotTasks(r.Diagnostics), "%q", text)
	last := plan.Diagnostic{}
	for _, d := range r.Diagnostics {
		k, ok := names[d.Source]
		require.True(t, ok, d.Source)
		require.LessOrEqual(t, d.Line, len(lineEnd.Split(files[k].Text, -1)))
		if d.Source == last.Source {
			require.GreaterOrEqual(t, d.Line, last.Line)
		}
		last = d
	}
	items := r.Items()
	require.Equal(t, r.Len(), r.Totals.Items())
	for i := range items {
		it := &items[i]
		require.Contains(t, names, it.Source)
		require.NotEmpty(t, it.ID)
		require.NotEmpty(t, it.Title)
		require.Positive(t, it.Line)
		require.NotEmpty(t, it.Status.String())
		require.LessOrEqual(t, it.Mark.End, len(text))
	}
}
