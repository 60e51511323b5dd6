package mcp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocumentHasEveryTool holds the table of docs/mcp.md against tools/list.
func TestDocumentHasEveryTool(t *testing.T) {
	const name = "../docs/mcp.md"
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	doc := strings.ReplaceAll(string(text), "\r\n", "\n") // as some systems check files out
	begin, end := "<!-- tools: written by `go test ./mcp -run TestDocument -update` -->\n", "<!-- end of tools -->\n"
	head, rest, ok := strings.Cut(doc, begin)
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := head + begin + "\n" + toolTable(t) + "\n" + end + tail
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, doc, "go test ./mcp -run TestDocument -update")
}

// toolTable is the table of the tools, with what each must be given in bold.
func toolTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| tool | what it takes | reads only | idempotent |\n|---|---|---|---|\n")
	for _, each := range listed(t, modern)["tools"].([]any) {
		tool := object(each.(map[string]any))
		hints := tool["annotations"].(map[string]any)
		fmt.Fprintf(&b, "| [`%s`](methods.md#%[1]s) | %s | %s | %s |\n", tool.str("name"), arguments(tool["inputSchema"].(map[string]any)),
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
