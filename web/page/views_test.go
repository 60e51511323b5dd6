package page_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
	"waybill/store/sqlite"
)

// A sight is a place of the page, and words that can be read there.
type sight struct {
	name, at string
	words    []string
}

func sights(w town) []sight {
	return []sight{
		{"inbox", "#/inbox/" + w.shelves, []string{"Order the shelves", "Print the labels", "leave out a shelf of the encyclopedias?", "The plan of the new hall is drawn", "Send reply"}},
		{"tasks", "#/tasks/" + w.failed, []string{"Wind the clock", "error", "503 service unavailable", "acme/large", "other/small", "Retry"}},
		{"retried", "#/tasks/" + w.loans + "?q=status%3Acomplete", []string{"Move the loans", "3,112 loans are in the new table.", "retry"}},
		{"running", "#/tasks/" + w.running, []string{"Carry the catalogue", "running", "Cancel the task"}},
		{"runs", "#/runs/" + w.run, []string{"Write the new table", "Make reader and book unique together.", "A reader can borrow the same book twice.", "What was asked", "review rejections: 1 of 3", "only said", "make-test: red (exit status 2)", "a reader has two copies", "What is next"}},
		{"plans", "#/plans/tasks.md/2.2", []string{"Write the new table", "Tell the readers", "specs/garden/tasks.md", "in progress", "running", "after 2.2", "loans/table.sql"}},
		{"instructions", "#/instructions/" + w.instruction, []string{"Stop at the next full hour.", "sent ×2 of 2", "failed", "Queue it again", "stopped"}},
		{"notices", "#/notices", []string{"Notices", "Mark "}},
		{"status", "#/status", []string{"Tasks:", "sqlite", "Workspace", "What is wrong"}},
	}
}

// TestEveryViewShowsItsThings goes everywhere, in both colours and on a narrow page. Everywhere can be read what is to
// be read, nobody is kept out as far as a program can tell, and nothing has to be scrolled sideways.
func TestEveryViewShowsItsThings(t *testing.T) {
	h, w := settled(t)
	p := newBrowser(t).at(h, "")
	p.inspectable()
	for _, theme := range []string{"light", "dark"} {
		p.look(`document.documentElement.dataset.theme = ` + quoted(theme))
		for _, s := range sights(w) {
			p.look(`location.hash = ` + quoted(s.at))
			for _, words := range s.words {
				p.sees(words)
			}
			p.accessible(theme + " " + s.name)
			p.picture(s.name + "-" + theme)
		}
		p.press("?")
		p.until(`document.querySelector("dialog[open]") !== null`)
		p.accessible(theme + " help")
		p.picture("help-" + theme)
		p.press("Escape")
	}
	p.size(320, 640)
	for _, s := range sights(w) {
		p.look(`location.hash = ` + quoted(s.at))
		p.sees(s.words[0])
		p.narrow(s.name)
		p.accessible("narrow " + s.name)
		p.picture(s.name + "-narrow")
	}
}

// openToAll asserts that what is seen keeps nobody out, in both colours and on a narrow page, where nothing is cut off.
func (p *tab) openToAll(what string) {
	p.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		p.look(`document.documentElement.dataset.theme = ` + quoted(theme))
		p.accessible(theme + " " + what)
		p.picture(what + "-" + theme)
	}
	p.size(320, 640)
	p.narrow(what)
	p.accessible("narrow " + what)
	p.size(1280, 800)
}

// inspectable puts into the page what accessible needs.
func (p *tab) inspectable() {
	p.t.Helper()
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	require.NoError(p.t, err)
	p.look("(() => { " + string(axe) + "; return 1; })()")
}

// accessible asserts that axe finds nothing that keeps people out.
func (p *tab) accessible(where string) {
	p.t.Helper()
	p.look(`(window.found = undefined, axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
		(r) => (window.found = r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).join("; "))), (e) => (window.found = [String(e)])), 1)`)
	p.until(`window.found !== undefined`)
	require.Empty(p.t, p.look(`window.found`), where)
}

// narrow asserts that the page fits its width.
func (p *tab) narrow(where string) {
	p.t.Helper()
	wide := `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".row-title, .row-under, .chart, .scroll, .block, .raw, .top nav, .skip, .unseen, .diff")).map((e) => e.tagName + "." + e.className)`
	require.Equal(p.t, true, p.look(`document.documentElement.scrollWidth <= innerWidth`), "%s is too wide: %v", where, p.look(wide))
	require.Empty(p.t, p.look(wide), "%s: something is cut off", where)
}

// TestStatusDoesNotSayThatAllIsWellBesideAFailedTask: the page said so beside 40 failed tasks.
func TestStatusDoesNotSayThatAllIsWellBesideAFailedTask(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db") // a store in memory is a fault in itself
	open := func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, sqlite.Options{Path: path}) }
	h := newHarnessOf(t, engine.Options{Open: open})
	p := newBrowser(t).tab()
	p.run(chromedp.Navigate(h.link()))
	p.look(`location.hash = "#/status"`)
	p.sees("Everything is as it should be.")
	id := h.create(map[string]any{"prompt": "Sort them."})
	h.claim()
	h.finish(id, "interrupted", nil)
	p.sees("1 task failed")
	require.NotContains(t, p.text(".failure .sayings li bdi"), id, "a sentence for a person has an id in it")
	p.lacks("Everything is as it should be.")
	p.inspectable()
	p.openToAll("attention")
	p.picture("attention")
	h.call("retry_task", map[string]any{"task_id": id})
	p.sees("Everything is as it should be.")
}
