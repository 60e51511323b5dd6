package ledger_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

// The table of marks in the document is written from the table in the code.
func TestPlansDocumentIsCurrent(t *testing.T) {
	document := filepath.Join("..", "docs", "plans.md")
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	said := strings.ReplaceAll(string(text), "\r\n", "\n")
	part := regexp.MustCompile(`(?s)(<!-- generated: marks -->\n).*?(<!-- end -->)`)
	require.Len(t, part.FindAllString(said, -1), 1, "the document has one place for the table of marks")
	generated := part.ReplaceAllString(said, "${1}"+strings.ReplaceAll(markTable(), "$", "$$")+"${2}")
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(generated), 0o644))
		return
	}
	require.Equal(t, generated, said, "docs/plans.md is stale; run `go test ./ledger -update`")
}

func markTable() string {
	var b strings.Builder
	b.WriteString("| dialect | `pending` | `in_progress` | `completed` | `blocked` | `skipped` |\n|---|---|---|---|---|---|\n")
	for _, dialect := range ledger.Dialects() {
		boxes, words, written := ledger.Marks(dialect)
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

func some(marks [ledger.Skipped + 1][]string) bool {
	for _, of := range marks {
		if len(of) > 0 {
			return true
		}
	}
	return false
}

func markRow(marks [ledger.Skipped + 1][]string) string {
	var b strings.Builder
	for _, of := range marks[ledger.Pending:] {
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
