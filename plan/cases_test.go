package plan_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/edit"
	"waybill/plan/graph"
	"waybill/plan/read"
	"waybill/test/golden"
)

// TestCasesReadAsTheFilesSay reads the cases of testdata/cases. A heading says what the cases below it are about. A case
// is one line, and the indented lines below it, which -update writes, are its result:
//
//	read "TEXT" [dialect=NAME] [path=PATH]             reads a plan
//	set ID[@LINE] STATUS "TEXT" [dialect=…] [path=…]   sets the status of an item
//	marks ID "TEXT"                                    sets it to each status, and shows its marks
//	spelled "LINE" [N …] = [N …]                       has the line in every dialect name and mean these items
//	ready "TEXT" [ID=RUN …]                            says what is ready while these runs stand so
func TestCasesReadAsTheFilesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			var b strings.Builder
			for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
				if strings.HasPrefix(line, "  ") {
					continue
				}
				b.WriteString(line)
				switch verb, arguments, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); verb {
				case "read":
					text, hints := caseText(t, arguments)
					b.WriteString(indented(readCase(t, text, hints)))
				case "set":
					item, rest, _ := strings.Cut(arguments, " ")
					status, rest, _ := strings.Cut(rest, " ")
					text, hints := caseText(t, rest)
					b.WriteString(indented(setCase(t, text, hints, item, status)))
				case "marks":
					item, rest, _ := strings.Cut(arguments, " ")
					text, _ := caseText(t, rest)
					b.WriteString(indented(marksCase(t, text, item)))
				case "spelled":
					spelledCase(t, arguments)
				case "ready":
					b.WriteString(indented(readyCase(t, arguments)))
				}
			}
			golden.File(t, path, b.String())
		})
	}
}

// caseText returns the text and the hints of a case.
func caseText(t testing.TB, arguments string) (text string, hints plan.Hints) {
	t.Helper()
	quoted, err := strconv.QuotedPrefix(arguments)
	require.NoError(t, err, arguments)
	text, err = strconv.Unquote(quoted)
	require.NoError(t, err, arguments)
	for _, hint := range strings.Fields(arguments[len(quoted):]) {
		name, value, _ := strings.Cut(hint, "=")
		switch name {
		case "dialect":
			hints.Dialect, hints.Pattern = value, "*.md"
		case "path":
			hints.Path = value
		default:
			require.Fail(t, "no such hint", hint)
		}
	}
	return text, hints
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// readCase returns all that a reading says, in short.
func readCase(t *testing.T, text string, hints plan.Hints) string {
	t.Helper()
	r, err := read.Read(text, hints)
	if err != nil {
		var refusal *plan.ParseError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, "progress_ledger_parse_failed", refusal.Code())
		return fmt.Sprintf("error %s %d+%d: %s\n%s", refusal.Reason, refusal.Line, refusal.Offset, err, diagnosticLines(refusal.Diagnostics))
	}
	if hints == (plan.Hints{}) {
		checkRecordLaws(t, text)
		requireOpenWorkCounts(t, text)
		requireStuckIsExplained(t, text, r)
	}
	var b strings.Builder
	b.WriteString(cmp.Or(r.Dialect, "no dialect"))
	if r.Active() != "" {
		b.WriteString(", active " + r.Active())
	}
	for _, e := range r.Evidence {
		fmt.Fprintf(&b, "; %d %s: %s", e.Line, e.Dialect, e.Signal)
	}
	ready := graph.ReadyIn(r, r.Items(), runs(nil))
	if ready.Complete {
		b.WriteString("; complete")
	}
	b.WriteString("\n")
	because := map[string]string{}
	for _, w := range ready.Waiting {
		for _, h := range w.Because {
			because[w.ItemID] = cmp.Or(because[w.ItemID], " waits") + " " + strings.TrimSuffix(string(h.Kind)+"="+h.ItemID, "="+w.ItemID)
		}
	}
	for _, it := range r.Items() {
		b.WriteString(itemLine(text, it) + because[it.ID] + "\n")
	}
	return b.String() + diagnosticLines(r.Diagnostics)
}

// itemLine returns the item, without what is empty.
func itemLine(text string, it plan.Item) string {
	line := fmt.Sprintf("%s %q %s %s:%d", it.ID, it.Title, it.Status, it.Source, it.Line)
	if it.DerivedStatus != 0 && it.DerivedStatus != it.Status {
		line += " derived " + it.DerivedStatus.String()
	}
	if it.ParentID != "" {
		line += fmt.Sprintf(" in %s/%d", it.ParentID, it.Level)
	}
	if it.Mark.End > 0 {
		line += fmt.Sprintf(" mark %q", text[it.Mark.Start:it.Mark.End])
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"derived-id", it.DerivedID}, {"optional", it.Optional}, {"parallel", it.Parallel}, {"worded", it.Worded}} {
		if flag.set {
			line += " " + flag.name
		}
	}
	d := it.Directives()
	for _, field := range []struct {
		name   string
		values []string
	}{
		{"prompt", []string{it.Prompt}},
		{"after", it.DependsOn},
		{"requirements", it.Requirements},
		{"files", it.Files},
		{"leverage", []string{it.Leverage}},
		{"purpose", []string{it.Purpose}},
		{"blocked", []string{it.BlockedReason}},
		{"review", []string{string(d.Review)}},
		{"model", []string{d.Model}},
		{"details", it.Details},
	} {
		if strings.Join(field.values, "") != "" {
			line += fmt.Sprintf(" %s%q", field.name, field.values)
		}
	}
	return line
}

func diagnosticLines(all []plan.Diagnostic) string {
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "! %s%d:%d %s %s: %s", d.Source, d.Line, d.Column, d.Severity, d.Code, d.Message)
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

// setCase returns the text in which an item has another status, or the refusal.
func setCase(t *testing.T, text string, hints plan.Hints, item, status string) string {
	t.Helper()
	r, err := read.Read(text, hints)
	require.NoError(t, err)
	to, ok := plan.ParseStatus(status)
	require.True(t, ok, status)
	id, line, _ := strings.Cut(item, "@")
	n, _ := strconv.Atoi(line)
	marked, err := edit.Set(r, plan.Marking{Plan: "p", ItemID: id, Line: n, Status: to})
	if refusal, ok := errors.AsType[*plan.MarkError](err); ok {
		return fmt.Sprintf("error %s %v: %s", refusal.Reason, refusal.Lines, err)
	}
	if err != nil {
		return "error " + err.Error()
	}
	require.Equal(t, to, marked.Item.Status)
	return strconv.Quote(marked.Text)
}

// marksCase returns the mark that an item gets for each status, or why it is refused.
func marksCase(t *testing.T, text, item string) string {
	t.Helper()
	checkEveryMark(t, text)
	var all []string
	for _, to := range settable {
		marked, err := markOf(t, text, item, 0, to)
		if refusal, ok := errors.AsType[*plan.MarkError](err); ok {
			all = append(all, fmt.Sprintf("%s: %s", to, refusal.Reason))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, to, marked.Item.Status)
		all = append(all, fmt.Sprintf("%s %q", to, marked.Text[marked.Item.Mark.Start:marked.Item.Mark.End]))
	}
	return strings.Join(all, ", ")
}

// readyCase returns what is ready in a plan.
func readyCase(t *testing.T, arguments string) string {
	t.Helper()
	quoted, err := strconv.QuotedPrefix(arguments)
	require.NoError(t, err, arguments)
	text, err := strconv.Unquote(quoted)
	require.NoError(t, err, arguments)
	table := map[string]plan.ItemRun{}
	for _, run := range strings.Fields(arguments[len(quoted):]) {
		id, state, _ := strings.Cut(run, "=")
		table[id] = map[string]plan.ItemRun{"live": plan.RunLive, "blocked": plan.RunBlocked, "done": plan.RunDone}[state]
		require.NotEqual(t, plan.NoRun, table[id], run)
	}
	return tell(graph.Ready(parse(t, text).Items(), runs(table)))
}

// spelledCase checks what a line below the ninth item means, in every dialect in which it can mean something.
func spelledCase(t *testing.T, arguments string) {
	t.Helper()
	quoted, err := strconv.QuotedPrefix(arguments)
	require.NoError(t, err, arguments)
	line, err := strconv.Unquote(quoted)
	require.NoError(t, err, arguments)
	named, meant, _ := strings.Cut(arguments[len(quoted):], "=")
	forEachShape(t, withoutSentences, func(t *testing.T, dialect string, s shape) {
		ids := func(numbers string) (all []any) {
			for n := range strings.FieldsSeq(numbers) {
				number, _ := strconv.Atoi(n)
				all = append(all, s.idOf(number))
			}
			return all
		}
		items := s.nine(nil)
		items[8].below = fmt.Sprintf(line, ids(named)...) + "\n"
		r := parse(t, s.plan(dialect, items))
		require.Equal(t, fmt.Sprint(ids(meant)), fmt.Sprint(item(t, r, s.idOf(9)).DependsOn), "%s: %q", dialect, line)
		require.Empty(t, diagnostics(r, "dependency_unresolved"), line)
	})
}
