package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
)

// costly returns texts that make readers of Markdown take the square of their length, or more.
func costly(length int) (texts []string) {
	times := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	for _, s := range []string{
		"[", "]", "![", "[](", "[a](", "![[]()", "[a](<b", "[a]: b\n", "[a]:\n", "[a][b]", ">", "> ", "- ", "1. ", "-\n", "- a\n", ">\n", "*", "_", "*_", "~", "~~a", "a**b",
		"*a_ ", "`", "`\n", "<", "<!--", "<?", "<a ", "</", "<a b='", "<![CDATA[", "(", "www.", "_www.", "http://a ", "a@", "_a@b ", "&#", "&", "\\", "|", "|a", "|-\n", "#", "\n", " ",
		"\t", "    a\n", "```\n", "~~~\n\n", "<div>\n", "<pre>\n", "a\n=\n", "==\n--\n", "> a\nb\n", "a_", "!", "a  \n", "a\\\n", "\x00", "\xff", "é",
	} {
		texts = append(texts, times(s, length), times(times(s, 4000)+"\n\n", length))
	}
	for _, s := range [][2]string{
		{"[", "]"},
		{"[", "](a)"},
		{"[a", "]"},
		{"*", "a*"},
		{"*a_", "_*"},
		{"~~a", "~~"},
		{"- ", "\n"},
		{"- ", "a\n"},
		{"1. ", "\n"},
		{"1. ", "a\n"},
		{"> ", "a\n"},
		{"> - ", ">\n"},
		{"> - ", "\n"},
		{"- a\n", " b\n"},
		{"(", ")"},
		{"`", "a`"},
		{"[a](", ")"},
		{"[a]: b\n", "[a]"},
		{"<a ", ">"},
		{"~ ", "a~"},
	} {
		texts = append(texts, times(s[0], length/2)+times(s[1], length/2), times(times(s[0], 2000)+times(s[1], 2000)+"\n\n", length))
	}
	var stairs strings.Builder
	for i := 0; stairs.Len() < length-2*i; i++ {
		stairs.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	wide := length / 6
	return append(texts, stairs.String(),
		times("|a", wide)+"\n"+times("|-", wide)+"\n"+times("a\n", length/2),
		"|a\n|-\n"+times("`\\|`\n", length),
		"[a]: https://b.example/"+strings.Repeat("c", 2000)+"\n\n"+times("[a]", length/2),
		"[a]: docs/"+strings.Repeat("c", length/2)+"\n\n"+times("[a]", length/3),
	)
}

// TestFormattedTextNeverStopsThePage: the parsing of every text ends within half a second and a step, and the text is
// drawn with a limited number of elements at a limited depth, and with links to nothing but the web and mailboxes.
func TestFormattedTextNeverStopsThePage(t *testing.T) {
	h, p := opened(t, "")
	result := api.Build(options(t, "test/nodes.entry.tsx"))
	require.Empty(t, result.Errors)
	p.look("(() => { " + string(result.OutputFiles[0].Contents) + "; return 1; })()")
	const longStep = 500.0 // ms
	slowest := 0.0
	for i, text := range costly(64<<10 - 4000) {
		of := fmt.Sprintf("%.24q… (%d)", text, i)
		var got map[string]any
		for range 3 { // a busy machine may make any step long
			got, _ = p.look(`measure(` + quoted(text) + `)`).(map[string]any)
			require.LessOrEqual(t, got["ms"], 500+2*got["longest"].(float64), "the time was over, and parsing went on: %s", of)
			if got["longest"].(float64) < longStep {
				break
			}
		}
		slowest = max(slowest, got["longest"].(float64))
		require.Less(t, got["longest"], longStep, of)
		require.LessOrEqual(t, got["elements"], 50_000.0, of)
		require.LessOrEqual(t, got["deepest"], 150.0, of)
		require.Subset(t, []any{"http:", "https:", "mailto:"}, got["protocols"], of)
	}
	t.Logf("the longest step of parsing takes %.0f ms", slowest)
	require.Empty(t, p.foreign(h.url()))
}
