package file_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	planfile "waybill/plan/file"
	"waybill/plan/places"
	"waybill/test/golden"
)

var document = filepath.Join("..", "..", "docs", "plans.md")

// What the document says about places is written from what the code has.
func TestPlansDocumentIsCurrent(t *testing.T) {
	golden.Parts(t, document, map[string]string{"places": placesTable(), "exceptions": exceptionsLine(), "kinds": kindsTable()})
}

func placesTable() string {
	var b strings.Builder
	b.WriteString("| place | tool | counts |\n|---|---|---|\n")
	for _, p := range places.All() {
		counts := "always"
		if p.Mixed {
			counts = "if it has items"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Pattern, p.Tool, counts)
	}
	return b.String()
}

func exceptionsLine() string {
	var names []string
	for _, pattern := range places.Patterns() {
		if name, ok := strings.CutPrefix(pattern, "!"); ok {
			names = append(names, "`"+name+"`")
		}
	}
	return "Never plans: " + strings.Join(names, ", ") + ".\n"
}

func kindsTable() string {
	var b strings.Builder
	for i, kind := range planfile.FolderKinds() {
		fmt.Fprintf(&b, "%d. `%s`\n", i+1, kind)
	}
	return b.String()
}
