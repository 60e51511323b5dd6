package markdown_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
	"waybill/web/markdown"
)

// outline writes nodes in short: kind(what it has: what is below it).
func outline(nodes []markdown.Node) string {
	var all []string
	for _, n := range nodes {
		if n.Kind == "text" {
			all = append(all, fmt.Sprintf("%q", n.Text))
			continue
		}
		var has []string
		if n.Text != "" {
			has = append(has, fmt.Sprintf("%q", n.Text))
		}
		if n.URL != "" {
			has = append(has, "<"+n.URL+">")
		}
		if n.Level != 0 {
			has = append(has, fmt.Sprint(n.Level))
		}
		if n.Ordered {
			has = append(has, fmt.Sprintf("from %d", *n.Start))
		}
		if n.Checked != nil {
			has = append(has, map[bool]string{true: "x", false: "o"}[*n.Checked])
		}
		if n.Header {
			has = append(has, "head")
		}
		if n.Children != nil {
			has = append(has, outline(n.Children))
		}
		all = append(all, n.Kind+"("+strings.Join(has, " ")+")")
	}
	return strings.Join(all, " ")
}

func TestEveryKindOfMarkup(t *testing.T) {
	for written, want := range map[string]string{
		"":                                       ``,
		"one\ntwo\n\nthree":                      `paragraph("one\ntwo") paragraph("three")`,
		"one  \ntwo\\\nthree":                    `paragraph("one" break() "two" break() "three")`,
		"one\r\ntwo\r\n":                         `paragraph("one\ntwo")`,
		"# One *two* #":                          `heading(1 "One " emphasis("two"))`,
		"One\n---":                               `heading(2 "One")`,
		"*a* **b** ~~c~~ `d`":                    `paragraph(emphasis("a") " " strong("b") " " strikethrough("c") " " code("d"))`,
		"``a `\nb``":                             `paragraph(code("a ` + "`" + ` b"))`,
		"```go\na < b\n\n\tc\n```\n":             `code_block("a < b\n\n\tc")`,
		"\n    a\n    b\n":                       `code_block("a\nb")`,
		"> a\n> > b":                             `quote(paragraph("a") quote(paragraph("b")))`,
		"- a\n- b\n  - c":                        `list(item("a") item("b" list(item("c"))))`,
		"0. a\n1. b":                             `list(from 0 item("a") item("b"))`,
		"7) a\n\n8) b":                           `list(from 7 item(paragraph("a")) item(paragraph("b")))`,
		"- [ ] a\n- [x] b":                       `list(item(o "a") item(x "b"))`,
		"- [x] a\n\n  b":                         `list(item(x paragraph("a") paragraph("b")))`,
		"a\n\n***\n\nb":                          `paragraph("a") rule() paragraph("b")`,
		"| a | `b` |\n|--|:-:|\n| *c* | d\\|e |": `table(row(cell(head "a") cell(head code("b"))) row(cell(emphasis("c")) cell("d|e")))`,
		"| a | b |\n|--|--|\n| c":                `table(row(cell(head "a") cell(head "b")) row(cell("c") cell()))`,
		"[a\n\n![b\n\n]":                         `paragraph("[a") paragraph("![b") paragraph("]")`,
		`\*a\* &lt;b&gt; &#x202e; &amp;lt; \&amp; &nosuch; & ; \a`: "paragraph(\"*a* <b> \\u202e &lt; &amp; &nosuch; & ; \\\\a\")",
	} {
		got := markdown.Read(written)
		require.Equal(t, want, outline(got.Nodes), "%q", written)
		require.Empty(t, got.Plain)
	}
}

// A link to another scheme, and an image, becomes its text, and its target is
// seen.
func TestOnlyHTTPAndMailtoLinksAreKept(t *testing.T) {
	for written, want := range map[string]string{
		"[a](https://b.example/c?d=e&amp;f#g)":                     `link(<https://b.example/c?d=e&f#g> "a")`,
		"[a](HTTP://b.example 'title')":                            `link(<HTTP://b.example> "a")`,
		"[a](mailto:b@c.example)":                                  `link(<mailto:b@c.example> "a")`,
		"[a](<https://b.example/ä ö>)":                             `link(<https://b.example/%C3%A4%20%C3%B6> "a")`,
		"[*a* b][1]\n\n[1]: https://c.example":                     `link(<https://c.example> emphasis("a") " b")`,
		"![a](https://b.example/c.png)":                            `image(<https://b.example/c.png> "a")`,
		"![](https://b.example/c.png)":                             `image(<https://b.example/c.png>)`,
		"[![a](https://b.example/c.png)](https://d.example)":       `link(<https://d.example> "a")`,
		"[a <https://b.example> c](https://d.example)":             `link(<https://d.example> "a https://b.example c")`,
		"https://b.example/c, and www.d.example.":                  `link(<https://b.example/c> "https://b.example/c") ", and " link(<http://www.d.example> "www.d.example") "."`,
		"<https://b.example> <c@d.example> e@f.example":            `link(<https://b.example> "https://b.example") " " link(<mailto:c@d.example> "c@d.example") " " link(<mailto:e@f.example> "e@f.example")`,
		"[a](javascript:broken=1)":                                 `"a (javascript:broken=1)"`,
		"[a](JaVaScRiPt&colon;broken=1)":                           `"a (JaVaScRiPt:broken=1)"`,
		"[a](data:text/html,b)":                                    `"a (data:text/html,b)"`,
		"[a](vbscript:b) [c](file:///d) [e](//f.example)":          `"a (vbscript:b) c (file:///d) e (//f.example)"`,
		"[a](docs/a.md) [docs/b.md](docs/b.md) [c]()":              `"a (docs/a.md) docs/b.md c"`,
		"[a](https:b) [c](http:///d) [e](mailto:) [f](http://[)":   `"a (https:b) c (http:///d) e (mailto:) f (http://[)"`,
		"[a](https://b.example/\x01c) [d](https://e.example\x01)":  "link(<https://b.example/%01c> \"a\") \" d (https://e.example\\x01)\"",
		"![a](javascript:b)":                                       `"a (javascript:b)"`,
		"<javascript:broken=1> ftp://a.example":                    `"javascript:broken=1 ftp://a.example"`,
		"[a](https://b.example/" + strings.Repeat("c", 2100) + ")": `"a (https://b.example/` + strings.Repeat("c", 2100) + `)"`,
	} {
		require.Equal(t, "paragraph("+want+")", outline(markdown.Read(written).Nodes), "%q", written)
	}
}

// Tags are text, and nothing in them is markup.
func TestHTMLTagsStayText(t *testing.T) {
	for written, want := range map[string]string{
		"a <b onclick='*x*'>*c*</b> d":                   `paragraph("a <b onclick='*x*'>" emphasis("c") "</b> d")`,
		"a <!-- *b* &amp; --> c":                         `paragraph("a <!-- *b* &amp; --> c")`,
		"<script>\n*a* &amp; [b](http://c)\n</script>\n": `plain("<script>\n*a* &amp; [b](http://c)\n</script>")`,
		"<div>\n*a*\n\n*b*":                              `plain("<div>\n*a*") paragraph(emphasis("b"))`,
		"<!-- a\n\nb -->\nc":                             `plain("<!-- a\n\nb -->") paragraph("c")`,
		"- <pre>\n  a\n  </pre>":                         `list(item(plain("<pre>\na\n</pre>")))`,
	} {
		require.Equal(t, want, outline(markdown.Read(written).Nodes), "%q", written)
	}
}

func TestExpensiveTextIsReturnedAsWritten(t *testing.T) {
	for written, why := range map[string]string{
		strings.Repeat("*a*\n\n", 13000): markdown.TooMuch,
		strings.Repeat("-\n", 20000):     markdown.TooMuch,
		"[a]: https://b.example/" + strings.Repeat("c", 2000) + "\n\n" + strings.Repeat("[a]\n", 1000): markdown.TooMuch,
		"[a]: docs/" + strings.Repeat("c", 30000) + "\n\n" + strings.Repeat("[a]\n\n", 1000):           markdown.TooMuch,
		strings.Repeat("*a* ", markdown.MaxBytes/4) + "b":                                              markdown.TooLong,
	} {
		got := markdown.Read(written)
		require.Equal(t, why, got.Plain)
		require.Equal(t, []markdown.Node{{Kind: "plain", Text: written}}, got.Nodes)
	}
	most := strings.Repeat("a *b* cdefghijklmn\n\n", markdown.MaxBytes/20)
	require.Empty(t, markdown.Read(most).Plain, "a text with much in it is read")
	require.Empty(t, markdown.Read(strings.Repeat("a", markdown.MaxBytes)).Plain)
}

func TestDeepNestingBecomesText(t *testing.T) {
	for _, mark := range []string{"> ", "- ", "1. ", "> - ", "* [a](b"} {
		got := markdown.Read(strings.Repeat(mark, 40) + "bottom")
		require.LessOrEqual(t, strings.Count(outline(got.Nodes), "quote(")+strings.Count(outline(got.Nodes), "list("), 16, "%q", mark)
		require.Contains(t, outline(got.Nodes), "bottom")
	}
	deep := markdown.Read(strings.Repeat("*a **b ", 200) + "bottom" + strings.Repeat("** c*", 200))
	require.Equal(t, 64, depth(deep.Nodes))
	require.Contains(t, outline(deep.Nodes), "bottom")
	require.Equal(t, 200, strings.Count(words(deep.Nodes), "c"), "words below are lost")
}

func TestLongBlockHasNoInlineMarkup(t *testing.T) {
	short, long := strings.Repeat("*a* ", 1000), strings.Repeat("*a* ", 1100)
	require.Contains(t, outline(markdown.Read(short).Nodes), "emphasis")
	require.Equal(t, `paragraph("`+strings.TrimSpace(long)+`")`, outline(markdown.Read(long).Nodes))
	require.Contains(t, outline(markdown.Read(long+"\n\n*b*").Nodes), "emphasis")
	require.Equal(t, `heading(1 "`+strings.TrimSpace(long)+`")`, outline(markdown.Read("# "+long).Nodes))
}

func TestCellsOfTablesAreLimited(t *testing.T) {
	table := func(columns, rows int) string {
		return strings.Repeat("|a", columns) + "\n" + strings.Repeat("|-", columns) + "\n" + strings.Repeat("b\n", rows)
	}
	require.Contains(t, outline(markdown.Read(table(4, 700)).Nodes), "table(")
	require.NotContains(t, outline(markdown.Read(table(2000, 2000)).Nodes), "table(")
	several := outline(markdown.Read(strings.Repeat(table(4, 200)+"\n", 20)).Nodes)
	require.Equal(t, 3, strings.Count(several, "table("), "tables share what there may be of cells")
	require.Contains(t, several, "paragraph(")
	prose := strings.Repeat("a | b\nc\n\n", 3000)
	require.Contains(t, outline(markdown.Read(prose+table(4, 4)).Nodes), "table(", "what is no table takes none of it")
}

// hostile returns texts that make readers of Markdown take the square of their length, or more.
func hostile(length int) (texts []string) {
	times := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	for _, s := range []string{
		"[", "]", "![", "[](", "[a](", "![[]()", "[a](<b", "[a]: b\n", "[a]:\n", "[a][b]", ">", "> ", "- ", "1. ", "-\n", "- a\n", ">\n", "*", "_", "*_", "~", "~~a", "a**b",
		"*a_ ", "`", "`\n", "<", "<!--", "<?", "<a ", "</", "<a b='", "<![CDATA[", "(", "www.", "_www.", "http://a ", "a@", "_a@b ", "&#", "&", "\\", "|", "|a", "|-\n", "#", "\n", " ",
		"\t", "    a\n", "```\n", "~~~\n\n", "<div>\n", "<pre>\n", "a\n=\n", "a  \n", "a\\\n", "\x00", "\xff", "é",
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
		{"(", ")"},
		{"`", "a`"},
		{"[a](", ")"},
		{"[a]: b\n", "[a]"},
		{"<a ", ">"},
		{"~ ", "a~"},
	} {
		texts = append(texts, times(s[0], length/2)+times(s[1], length/2))
	}
	wide := length / 6
	return append(texts,
		times("|a", wide)+"\n"+times("|-", wide)+"\n"+times("a\n", length/2),
		"|a\n|-\n"+times("`\\|`\n", length),
		"[a]: https://b.example/"+strings.Repeat("c", 2000)+"\n\n"+times("[a]", length/2),
	)
}

// TestCostGrowsWithTheLength: whatever a text is made of, twice the text takes about twice as much, and never much.
func TestCostGrowsWithTheLength(t *testing.T) {
	length := markdown.MaxBytes
	if slow.Race {
		length /= 7 // one half still has a block of 4,000 bytes
	}
	whole, halves := hostile(length), hostile(length/2)
	for i, written := range whole {
		of := fmt.Sprintf("%.24q… (%d)", written, i)
		small, large := parseCost(halves[i]), parseCost(written)
		require.Less(t, large, 3*small+1<<20, of)
		require.Less(t, large, uint64(256<<20), of)
		requireValid(t, written)
	}
}

// parseCost returns how many bytes of memory it took to read a text, all in all.
func parseCost(written string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	markdown.Read(written)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileCorpusHasNoForeignLinks: texts that have become scripts on some page are words and links to the web.
func TestHostileCorpusHasNoForeignLinks(t *testing.T) {
	corpus, err := os.ReadFile(filepath.Join("..", "page", "testdata", "hostile.txt"))
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(corpus), "\n") {
		requireValid(t, strings.NewReplacer(`\n`, "\n", `\0`, "\x00").Replace(line))
	}
	requireValid(t, string(corpus))
}

// requireValid asserts what holds for every text.
func requireValid(t *testing.T, written string) {
	t.Helper()
	got := markdown.Read(written)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.Less(t, len(text), 2<<20+8*len(written))
	require.LessOrEqual(t, depth(got.Nodes), 64)
	each(got.Nodes, func(n markdown.Node, linked bool) {
		require.True(t, utf8.ValidString(n.Text+n.URL), "%q", written)
		require.Contains(t, markdown.Kinds, n.Kind)
		leads := n.Kind == "link" || n.Kind == "image"
		require.Equal(t, leads, n.URL != "", "%q", written)
		require.False(t, leads && linked, "a link in a link: %q", written)
		if leads {
			scheme, _, _ := strings.Cut(strings.ToLower(n.URL), ":")
			require.Contains(t, []string{"http", "https", "mailto"}, scheme, "%q", written)
			require.NotRegexp(t, `[\x00-\x20\x7f<>"]`, n.URL, "%q", written)
		}
	})
}

// each visits all nodes, with whether they are in a link.
func each(nodes []markdown.Node, visit func(n markdown.Node, linked bool)) {
	var all func(nodes []markdown.Node, linked bool)
	all = func(nodes []markdown.Node, linked bool) {
		for _, n := range nodes {
			visit(n, linked)
			all(n.Children, linked || n.URL != "")
		}
	}
	all(nodes, false)
}

func depth(nodes []markdown.Node) (deepest int) {
	for _, n := range nodes {
		deepest = max(deepest, 1+depth(n.Children))
	}
	return deepest
}

// words returns all that nodes say, with what is between their words.
func words(nodes []markdown.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(n.Text)
		b.WriteString(words(n.Children))
		switch n.Kind {
		case "paragraph", "heading", "code_block", "plain", "item", "cell", "break", "quote":
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// FuzzRead: there is an answer for every text. No address leads elsewhere than to the web or a mailbox, and of a text
// without marks every word is there.
func FuzzRead(f *testing.F) {
	for _, s := range hostile(300) {
		f.Add(s)
	}
	for _, s := range []string{
		"# a\n\n- [x] b\n  - c **d** ~~e~~\n\n> `f` [g](https://h.example) ![i](//j)\n\n|k|l|\n|-|:-|\n|m|\n", "[a]: javascript:b\n[a] <b> &amp; <!-- c -->",
		"a\tb\r\nc\rd\u2028e\u00a0f\vg", "    a\n\n\tb", "1. a\n\n   b\n2. c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, written string) {
		requireValid(t, written)
		clean := unmarked(written)
		require.Equal(t, strings.Fields(clean), strings.Fields(words(markdown.Read(clean).Nodes)), "%q", clean)
	})
}

// unmarked returns a text without all that can be a mark.
func unmarked(written string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune("\\`*_~[]()<>#+-.!|&:@=", r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(written, "\uFFFD"))
}
