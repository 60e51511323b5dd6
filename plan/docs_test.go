package plan_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/read"
	"waybill/test/golden"
)

// The tables in the document are written from what the code writes and reads.
func TestPlansDocumentIsCurrent(t *testing.T) {
	document := filepath.Join("..", "docs", "plans.md")
	golden.Parts(t, document, map[string]string{"marks": markTable(), "meanings": meaningTable(t), "hints": hintsTable()})
}

func hintsTable() string {
	var b strings.Builder
	b.WriteString("| the path begins with | dialect |\n|---|---|\n")
	under, dialects := pathHints()
	for i := range under {
		b.WriteString("| `" + under[i] + "` | " + dialects[i] + " |\n")
	}
	return b.String()
}

// A hint for a dialect that does not exist would say nothing to anybody, and one that begins as another one would
// hide it.
func TestHintsNameDialectsAndNoneHidesAnother(t *testing.T) {
	under, dialects := pathHints()
	require.Subset(t, dialect.Names(), dialects)
	for i, a := range under {
		for k, b := range under {
			require.False(t, i != k && strings.HasPrefix(a, b), "%s and %s", a, b)
		}
	}
}

func markTable() string {
	var b strings.Builder
	b.WriteString("| dialect | `pending` | `in_progress` | `completed` | `blocked` | `skipped` |\n|---|---|---|---|---|---|\n")
	for _, dialect := range dialect.Names() {
		boxes, words, written := marksOf(dialect)
		switch {
		case !written:
			b.WriteString("| " + dialect + " | not written | | | | |\n")
			continue
		case some(boxes):
			b.WriteString("| " + dialect + markRow(boxes))
		}
		if some(words) {
			b.WriteString("| " + dialect + ", no box" + markRow(words))
		}
	}
	return b.String()
}

func some(marks [plan.Skipped + 1][]string) bool {
	for _, of := range marks {
		if len(of) > 0 {
			return true
		}
	}
	return false
}

func markRow(marks [plan.Skipped + 1][]string) string {
	var b strings.Builder
	for _, of := range marks[plan.Pending:] {
		b.WriteString(" |")
		for i, mark := range of {
			switch {
			case mark == "":
			case mark == " ":
				b.WriteString(" space")
			case i > 0:
				b.WriteString(" (`" + mark + "`)")
			default:
				b.WriteString(" `" + mark + "`")
			}
		}
	}
	return b.String() + " |\n"
}

// meaningTable has a row for each dialect whose items have boxes.
func meaningTable(t *testing.T) string {
	marks := []string{" ", "x", "X", "-", "~"}
	var b strings.Builder
	b.WriteString("| dialect | space | `x` | `X` | `-` | `~` |\n|---|---|---|---|---|---|\n")
	for _, dialect := range dialect.Names() {
		boxes, _, written := marksOf(dialect)
		if !written || !some(boxes) {
			continue
		}
		b.WriteString("| " + dialect + " |")
		for _, mark := range marks {
			b.WriteString(" " + markMeaning(t, dialect, mark) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// markMeaning reads a box with the mark, and says if it is one to wonder about.
func markMeaning(t *testing.T, dialect, mark string) string {
	title := map[string]string{
		"spec-kit": "T001 a", "conductor": "Task: a", "ccpm": "001.md - a", "superpowers": "**Step 1: a**", "tina": "**Step 1: a**",
	}[dialect]
	if title == "" {
		title = "1.1 a"
	}
	text := "- [" + mark + "] " + title + "\n"
	switch dialect {
	case "superpowers", "tina", "agent-os":
		text = "### Task 1: b\n" + text
	case "bmad":
		text = "## Tasks\n" + text
	}
	r, err := read.Read(text, plan.Hints{Dialect: dialect})
	require.NoError(t, err, dialect)
	items := r.Items()
	meaning := strings.ReplaceAll(items[len(items)-1].Status.String(), "_", " ")
	if len(diagnostics(r, "unknown_mark"))+len(diagnostics(r, "ambiguous_mark")) > 0 {
		meaning += ", reported"
	}
	return meaning
}
