package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hostile returns texts that have become scripts, requests or another address on some page. Each would set
// window.broken, or ask example.invalid for something.
func hostile(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile.txt"))
	require.NoError(t, err)
	var texts []string
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			texts = append(texts, strings.NewReplacer(`\n`, "\n", `\0`, "\x00").Replace(line))
		}
	}
	return texts
}

// guarded opens a tab that notes what the policy of the page refused.
func (b *browser) guarded(h *harness) *tab {
	p := b.tab()
	p.run(tell(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.refused = []; addEventListener("securitypolicyviolation", (e) => refused.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample))`,
	}), tell(cdppage.Enable, cdppage.EnableParams{}))
	p.open(h.link())
	return p
}

// harmless asserts that nothing that was written ran, or was tried, or became an element of its own.
func (p *tab) harmless(at string) {
	p.t.Helper()
	require.Nil(p.t, p.look(`window.broken`), "something ran at %s", at)
	require.Equal(p.t, []any{}, p.look(`window.refused`), "something was tried at %s", at)
	require.Equal(p.t, []any{}, p.look(`[...document.querySelectorAll("main :is(script, iframe, object, embed, form:not(.reply), base, meta, img, video, audio, math, foreignObject, link, style)")].map((e) => e.outerHTML)`))
}

// TestFaultW7_TextOfOthersStaysText: what agents, plans and people have written is shown letter for letter, runs
// nowhere, and asks nobody for anything.
func TestFaultW7_TextOfOthersStaysText(t *testing.T) {
	t.Parallel()
	texts := hostile(t)
	require.GreaterOrEqual(t, len(texts), 100)
	h := newHarness(t)
	all := strings.Join(texts, "\n")
	asking := h.asks("asks "+all, all)
	h.create(map[string]any{"prompt": all, "description": "fails " + all, "models": []map[string]any{{"provider_id": "<img src=x onerror=broken=1>", "model_id": "\"><script>broken=1</script>"}}})
	failed := h.claim()
	h.finish(failed, "error", map[string]any{"error": map[string]any{"class": "terminal", "message": all, "name": "<svg onload=broken=1>"}})
	h.create(map[string]any{"prompt": "x", "description": "answered"})
	answered := h.claim()
	h.finish(answered, "awaiting_response", map[string]any{"question": all, "output": all})
	h.call("reply", map[string]any{"task_id": answered, "reply": all, "by": "<img src=//example.invalid/by onerror=broken=1>"})
	h.call("queue_instruction_with_ack", map[string]any{"content": all, "max_retries": 0, "ack_on": map[string]any{"event_type": "<b onmouseover=broken=1>"}})
	var items strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&items, "- [ ] %d. %s\n", i+1, strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "\x00", ""))
	}
	h.write("tasks.md", items.String())
	run := h.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "1"})["run"].(map[string]any)["run_id"].(string)
	h.call("ingest_output", map[string]any{"run_id": run, "role": "worker", "output": "role: worker\ntask_id: 1\nstatus: gaps\nissues: " + strings.ReplaceAll(all, "\n", " ") + "\n"})

	p := newBrowser(t).guarded(h)
	instruction := h.call("list_instructions", nil)["items"].([]any)[0].(map[string]any)["instruction_id"].(string)
	for _, at := range []string{
		"#/inbox/" + asking, "#/tasks/" + failed, "#/tasks/" + answered, "#/instructions/" + instruction, "#/plans/tasks.md/1", "#/runs/" + run, "#/notices", "#/status",
		"#/tasks/%3Cimg%20src=x%20onerror=broken=1%3E", "#/tasks?q=%22%3E%3Cscript%3Ebroken=1%3C/script%3E", "#/plans/..%2f..%2fapi/javascript:broken=1", "#/javascript:broken=1", "#/%E0%A4%A",
	} {
		p.look(`location.hash = ` + quoted(at))
		p.until(`document.querySelector("main h1") !== null && !document.body.innerText.includes("Reading ")`)
		p.look(`document.querySelectorAll("details").forEach((d) => (d.open = true))`)
		p.harmless(at)
		require.Equal(t, []any{}, p.look(`[...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")).filter((to) => !to.startsWith("#"))`), "a link leads away at %s", at)
		require.Equal(t, true, p.look(`!/example/.test(location.host) && document.title.includes("waybill")`))
	}
	require.Empty(t, p.foreign(h.url()), "somebody else was asked")

	p.look(`location.hash = ` + quoted("#/inbox/"+asking))
	p.sees("The question")
	p.until(`document.querySelector(".question .prose") !== null`)
	shown, _ := p.look(`document.querySelector(".question .prose").textContent`).(string)
	for _, text := range texts {
		if strings.ContainsAny(text, "\x00\u200b\u200d\u202e\u2066\u2028\u00ad\ufeff") || strings.ContainsRune(text, 0xe0041) {
			require.NotContains(t, shown, text, "what hides is not shown")
			continue
		}
		require.Contains(t, shown, text, "it is not shown as it is")
	}
	require.Contains(t, shown, "U+202E")
	require.Contains(t, shown, "U+200B")
}

// TestFaultW4_WithoutTokenNothingIsShown: a link that was used before, or none, leads to a page that says so.
func TestFaultW4_WithoutTokenNothingIsShown(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asks("Secret", "Who knows?")
	link := h.link()
	b := newBrowser(t)
	first := b.tab()
	first.open(link)
	first.sees("Secret")
	for _, at := range []string{link, h.url() + "/"} {
		p := b.tab()
		p.run(chromedp.Navigate(at))
		p.sees("waybill ui --no-browser")
		require.NotContains(t, p.text("body"), "Secret")
		require.NotContains(t, p.look(`location.href`), "code-", "the code is still in the address")
		p.inspectable()
		p.openToAll("signed out")
	}
	require.Equal(t, []any{}, first.look(`[...Object.keys(localStorage)].filter((k) => k.includes("token"))`), "the token outlives its tab")
}
