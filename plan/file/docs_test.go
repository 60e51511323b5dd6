package file_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	planfile "waybill/plan/file"
	"waybill/test/golden"
)

var document = filepath.Join("..", "..", "docs", "plans.md")

// What the document says about places is written from what the code has.
func TestPlansDocumentIsCurrent(t *testing.T) {
	golden.Parts(t, document, map[string]string{"places": placesTable(), "exceptions": "Never plans: `" + strings.Join(planfile.Exceptions(), "`, `") + "`.\n", "kinds": kindsTable()})
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

func kindsTable() string {
	var b strings.Builder
	for i, kind := range planfile.FolderKinds() {
		fmt.Fprintf(&b, "%d. `%s`\n", i+1, kind)
	}
	return b.String()
}
