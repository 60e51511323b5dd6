package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/test/golden"
)

// dump writes all that a reading says, one thing a line.
func dump(src []byte, r *plan.Reading) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dialect %s\n", r.Dialect)
	for _, e := range r.Evidence {
		fmt.Fprintf(&b, "evidence line %d: %s (%s)\n", e.Line, e.Signal, e.Dialect)
	}
	totals := strings.Replace(fmt.Sprintf("%+v", r.Totals), " Unread:0}", "}", 1)
	fmt.Fprintf(&b, "checkboxes %d\ntotals %s\nactive %q\n", r.Checkboxes, totals, r.Active())
	for _, it := range r.Items() {
		dumpItem(&b, src, it)
	}
	b.WriteString("\n")
	for _, d := range r.Diagnostics {
		if d.Source != "" {
			b.WriteString(d.Source + ":")
		}
		fmt.Fprintf(&b, "%d:%d %s %s: %s", d.Line, d.Column, d.Severity, d.Code, d.Message)
		if d.NotATask {
			b.WriteString(" [not a task]")
		}
		if d.Open {
			b.WriteString(" [open]")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func dumpItem(b *strings.Builder, src []byte, it plan.Item) {
	fmt.Fprintf(b, "\n%s %q %s", it.ID, it.Title, it.Status)
	if it.DerivedStatus != 0 {
		fmt.Fprintf(b, " derived %s", it.DerivedStatus)
	}
	if it.Optional {
		b.WriteString(" optional")
	}
	fmt.Fprintf(b, " line %d level %d parent %q mark %q\n",
		it.Line, it.Level, it.ParentID, src[it.Mark.Start:it.Mark.End])
	if it.Source != "" {
		fmt.Fprintf(b, "  in %s\n", it.Source)
	}
	if it.DerivedID {
		b.WriteString("  derived id\n")
	}
	if it.Parallel {
		b.WriteString("  parallel\n")
	}
	for _, field := range []struct {
		name  string
		value any
		empty bool
	}{
		{"prompt", it.Prompt, it.Prompt == ""},
		{"depends on", it.DependsOn, it.DependsOn == nil},
		{"requirements", it.Requirements, it.Requirements == nil},
		{"files", it.Files, it.Files == nil},
		{"details", it.Details, it.Details == nil},
		{"leverage", it.Leverage, it.Leverage == ""},
		{"purpose", it.Purpose, it.Purpose == ""},
		{"blocked", it.BlockedReason, it.BlockedReason == ""},
	} {
		if !field.empty {
			fmt.Fprintf(b, "  %s %q\n", field.name, field.value)
		}
	}
}

func TestPlansReadAsTheGoldenFilesSay(t *testing.T) {
	plans, err := filepath.Glob("testdata/plans/*.md")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(plans), 6)
	for _, path := range plans {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			r, err := plan.Parse(src)
			require.NoError(t, err)
			golden.Equal(t, "plans/"+name+".golden", dump(src, r))
		})
	}
}
