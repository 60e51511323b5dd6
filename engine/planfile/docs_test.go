package planfile_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine/planfile"
)

var update = flag.Bool("update", false, "write the tables of docs/plans.md anew")

var document = filepath.Join("..", "..", "docs", "plans.md")

// What the document says about places is written from what the code has.
func TestPlansDocumentIsCurrent(t *testing.T) {
	raw, err := os.ReadFile(document)
	require.NoError(t, err)
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	generated := text
	for name, table := range map[string]string{
		"places": placesTable(), "exceptions": exceptionsTable(), "kinds": kindsTable(),
	} {
		part := regexp.MustCompile(`(?s)(<!-- generated: ` + name + ` -->\n).*?(<!-- end -->)`)
		require.Len(t, part.FindAllString(generated, -1), 1, "the document has one place for %s", name)
		generated = part.ReplaceAllString(generated, "${1}"+strings.ReplaceAll(table, "$", "$$")+"${2}")
	}
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(generated), 0o644))
		return
	}
	require.Equal(t, generated, text, "docs/plans.md is stale; run `go test ./engine/planfile -update`")
}

func placesTable() string {
	var b strings.Builder
	b.WriteString("| place | tool | counts |\n|---|---|---|\n")
	for _, p := range planfile.Places() {
		counts := "always"
		if p.Mixed {
			counts = "if it has items"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Pattern, p.Tool, counts)
	}
	return b.String()
}

func exceptionsTable() string {
	return "Left out is what lies in `" + strings.Join(planfile.Exceptions(), "`, `") + "`.\n"
}

func kindsTable() string {
	var b strings.Builder
	for i, kind := range planfile.FolderKinds() {
		fmt.Fprintf(&b, "%d. `%s`\n", i+1, kind)
	}
	return b.String()
}
