package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"waybill/test/golden"
)

// listed returns tools/list as it goes over the wire: what the client makes of it may have less.
func listed(t *testing.T, era string, hooks ...bool) object {
	t.Helper()
	g := newHarness(t, setup{asleep: true, hooks: len(hooks) > 0}).connect(era, nil)
	r, err := g.ListTools(context.Background(), nil)
	require.NoError(t, err)
	require.Empty(t, r.NextCursor)
	list := g.decode(`"tools":[`)["result"].(map[string]any)["tools"]
	require.Len(t, list, len(r.Tools))
	return object{"tools": list}
}

func TestListOfToolsMatchesGolden(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		golden.Equal(t, "tools.json", indented(t, listed(t, era))+"\n")
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	return string(text)
}

// A model reads the list before anything else, and mostly in every conversation.
func TestListOfToolsIsShort(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(t, err)
	for _, list := range []object{listed(t, modern), listed(t, modern, true)} {
		text, err := json.Marshal(list)
		require.NoError(t, err)
		count, err := codec.Count(string(text))
		require.NoError(t, err)
		t.Logf("%d tokens, %d bytes", count, len(text))
		require.LessOrEqual(t, count, 3000)
	}
}

// These rules are what known hosts or their models refuse.
func TestToolsPassTheStrictestHosts(t *testing.T) {
	for _, r := range []object{listed(t, modern), listed(t, modern, true)} {
		lintTools(t, r)
	}
}

func lintTools(t *testing.T, r object) {
	tools := r["tools"].([]any)
	require.LessOrEqual(t, len(tools), 12)
	var names []string
	words := append(regexp.MustCompile(`"[a-z_]+"`).FindAllString(indented(t, r), -1), `"next_action"`, `"packet_cursor"`, `"retry_prompt"`)
	for _, each := range tools {
		tool := object(each.(map[string]any))
		names = append(names, tool.str("name"))
		t.Run(tool.str("name"), func(t *testing.T) { lint(t, tool, words) })
	}
	require.True(t, slices.IsSorted(names), "%v", names)
	require.Equal(t, []string{
		"claim_task", "compile_prompt", "create_task", "dispatch_instructions", "finish_attempt", "get_task",
		"ingest_output", "init_run", "queue_instruction_with_ack", "ready_items", "reply", "report_event",
	}, names)
}

func lint(t *testing.T, tool object, words []string) {
	name := tool.str("name")
	require.Regexp(t, `^[a-z_]+$`, name)
	require.LessOrEqual(t, len("mcp__waybill__"+name), 64)
	require.NotEmpty(t, tool.str("title"))
	lintDescription(t, tool.str("description"), words)
	lintHints(t, name, tool["annotations"].(map[string]any))
	require.NotContains(t, tool, "outputSchema")
	lintSchema(t, object(tool["inputSchema"].(map[string]any)))
}

func lintDescription(t *testing.T, text string, words []string) {
	require.LessOrEqual(t, len(text), 300, "%d bytes: %s", len(text), text)
	require.Regexp(t, `^Use `, text, "the first sentence says when to use it")
	require.True(t, strings.HasSuffix(text, "."), text)
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && (r < 'a' || 'z' < r) }) {
		if strings.Contains(word, "_") {
			require.Contains(t, words, `"`+word+`"`, "it is neither a tool nor an argument nor a fact")
		}
	}
}

func lintHints(t *testing.T, name string, hints map[string]any) {
	reads := []string{"compile_prompt", "get_task", "ready_items"}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		require.Contains(t, hints, hint)
	}
	require.NotEmpty(t, hints["title"])
	require.Equal(t, slices.Contains(reads, name), hints["readOnlyHint"])
	require.Equal(t, false, hints["destructiveHint"])
	require.Equal(t, false, hints["openWorldHint"])
	if hints["readOnlyHint"] == true {
		require.Equal(t, true, hints["idempotentHint"])
	}
}

func lintSchema(t *testing.T, s object) {
	require.Subset(t, []string{"type", "properties", "required", "additionalProperties"}, slices.Collect(maps.Keys(s)))
	require.Equal(t, "object", s["type"])
	require.Equal(t, false, s["additionalProperties"])
	properties := s["properties"].(map[string]any)
	for name, each := range properties {
		require.Regexp(t, "^[a-z_]{1,64}$", name)
		lintProperty(t, name, object(each.(map[string]any)))
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		require.Contains(t, properties, name)
	}
}

func lintProperty(t *testing.T, name string, p object) {
	require.Subset(t, []string{"type", "description", "enum", "default", "minimum", "maximum", "items"}, slices.Collect(maps.Keys(p)), name)
	require.Contains(t, []any{"string", "integer", "boolean", "array"}, p["type"], "%s: one type, and no list of them", name)
	require.LessOrEqual(t, len(p.str("description")), 120, name)
	if p["type"] == "array" {
		require.Equal(t, map[string]any{"type": "string"}, p["items"], name)
	}
	if enum, some := p["enum"].([]any); some {
		require.Equal(t, "string", p["type"], name)
		require.NotEmpty(t, enum)
	}
}

func TestInstructionsFitTheLimitOfHosts(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		for _, hooks := range []bool{false, true} {
			text := newHarness(t, setup{asleep: true, hooks: hooks}).connect(era, nil).InitializeResult().Instructions
			require.NotEmpty(t, text)
			require.Less(t, len(text), 2000)
			require.NotContains(t, text, "%!")
		}
	}
}

// Where hooks report what an agent does, an id would only let a model claim that it has done it.
func TestModelSeesNoInstructionIDWhereTheHostHasHooks(t *testing.T) {
	require.NotContains(t, indented(t, listed(t, modern, true)), "instruction_id")
	h := newHarness(t, setup{asleep: true, hooks: true})
	g := h.connect(modern, nil)
	require.NotContains(t, g.InitializeResult().Instructions, "instruction_id")
	var heard []string
	for _, call := range [][2]string{
		{"queue_instruction_with_ack", `{"content":"Run the tests.","ack_on":"tested","max_retries":0}`},
		{"queue_instruction_with_ack", `{"content":"Deploy it.","ack_on":"deployed","max_retries":0}`},
		{"dispatch_instructions", `{}`},
		{"report_event", `{"type":"tested"}`},
		{"dispatch_instructions", `{}`}, // Deploy it fails
	} {
		o, text := g.callTool(call[0], "%s", call[1])
		heard = append(heard, indented(t, o), strings.Join(text, "\n"))
	}
	all := strings.Join(heard, "\n")
	require.NotContains(t, all, "instruction_id")
	require.NotContains(t, all, "ins_")
	require.Contains(t, all, "Run the tests.")
	require.Contains(t, all, `"acknowledged_total": 1`)
	require.Contains(t, all, `"failed": [`)
	require.Contains(t, g.callRefused("report_event", `{"instruction_id":"ins_1"}`), "UNKNOWN_FIELD")
}

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
