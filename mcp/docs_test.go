package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"waybill/test/golden"
)

// TestDocumentHasEveryTool holds the table of docs/mcp.md against tools/list.
func TestDocumentHasEveryTool(t *testing.T) {
	golden.Parts(t, "../docs/mcp.md", map[string]string{"tools": "\n" + toolTable(t) + "\n"})
}

// toolTable is the table of the tools, with what each must be given in bold.
func toolTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| tool | arguments | read-only | idempotent |\n|---|---|---|---|\n")
	for _, each := range listed(t, modern)["tools"].([]any) {
		tool := object(each.(map[string]any))
		hints := tool["annotations"].(map[string]any)
		fmt.Fprintf(&b, "| [`%s`](protocol.md#%[1]s) | %s | %s | %s |\n", tool.str("name"), arguments(tool["inputSchema"].(map[string]any)),
			yes(hints["readOnlyHint"]), yes(hints["idempotentHint"]))
	}
	return b.String()
}

func arguments(s map[string]any) string {
	var all []string
	required, _ := s["required"].([]any)
	for name := range s["properties"].(map[string]any) {
		word := "`" + name + "`"
		if slices.Contains(required, any(name)) {
			word = "**" + word + "**"
		}
		all = append(all, word)
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(strings.Trim(a, "*"), strings.Trim(b, "*")) })
	return strings.Join(all, ", ")
}

func yes(hint any) string {
	if hint == true {
		return "yes"
	}
	return ""
}
