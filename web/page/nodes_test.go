package page_test

import (
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
)

// TestNodesAreDrawnFromAList: of text that the server has read as a tree, only what is on the list of kinds becomes an
// element, whatever else the tree says.
func TestNodesAreDrawnFromAList(t *testing.T) {
	h, p := opened(t, "")
	result := api.Build(options(t, "test/nodes.entry.tsx"))
	require.Empty(t, result.Errors)
	p.look("(() => { " + string(result.OutputFiles[0].Contents) + "; return 1; })()")
	for nodes, want := range map[string]string{
		`[{kind: "paragraph", children: [{kind: "text", text: "a <b>"}, {kind: "strong", children: [{kind: "text", text: "c"}]}]}]`: `<p><bdi>a &lt;b&gt;</bdi><strong><bdi>c</bdi></strong></p>`,
		`[{kind: "heading", level: 99, children: [{kind: "text", text: "x"}]}]`:                                                     `<p class="heading heading-6"><bdi>x</bdi></p>`,
		`[{kind: "list", ordered: true, start: 3, children: [{kind: "item", checked: true, children: []}]}]`:                        `<ol start="3"><li><span class="box">[x] </span></li></ol>`,
		`[{kind: "code_block", text: "<i>"}]`:                                                        `<pre tabindex="0"><code><bdi>&lt;i&gt;</bdi></code></pre>`,
		`[{kind: "link", url: "https://a.example/x", children: [{kind: "text", text: "go"}]}]`:       `<a href="https://a.example/x" title="https://a.example/x" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer"><bdi>go</bdi> <span class="host">(a.example)</span></a>`,
		`[{kind: "image", url: "https://a.example/p.png", children: [{kind: "text", text: "cat"}]}]`: `<a href="https://a.example/p.png" title="https://a.example/p.png" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">picture: <bdi>cat</bdi> <span class="host">(a.example)</span></a>`,
		`[{kind: "link", url: "javascript:broken=1", children: [{kind: "text", text: "go"}]}]`:       `<span class="dead-link"><bdi>go</bdi> (<bdi>javascript:broken=1</bdi>)</span>`,
		`[{kind: "plain", text: "<p>\n"}]`:                                                           "<p class=\"prose\"><bdi>&lt;p&gt;\n</bdi></p>",
		`[{kind: "row", children: [{kind: "cell", header: true, children: [{kind: "text", text: "x"}]}, {kind: "cell", header: true}, {kind: "cell", header: "yes"}]}]`: `<tr><th scope="col"><bdi>x</bdi></th><td></td><td></td></tr>`,
		`[{kind: "script", text: "broken=1"}]`:                                                                                        `<bdi>broken=1</bdi>`,
		`[{kind: "constructor", children: [{kind: "text", text: "x"}]}]`:                                                              `<bdi>x</bdi>`,
		`[{kind: "text", text: {toString: () => "no"}}, null, 7, "text", {type: "img"}]`:                                              `<bdi></bdi>`,
		`[{kind: "paragraph", dangerouslySetInnerHTML: {__html: "<img src=x onerror=broken=1>"}, onclick: "broken=1", children: {}}]`: `<p></p>`,
	} {
		require.Equal(t, `<div class="nodes" dir="auto">`+want+`</div>`, p.look(`draw(`+nodes+`)`), nodes)
	}
	deep := `(() => { let n = {kind: "text", text: "bottom"}; for (let i = 0; i < 20000; i++) n = {kind: "quote", children: [n]}; return draw([n]); })()`
	require.Contains(t, p.look(deep), "bottom", "what is nested without end is not drawn")
	require.Nil(t, p.look(`window.broken`))
	require.Empty(t, p.foreign(h.url()))
}
