package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// at opens a tab at a place of the page, or where the page begins for "".
func (b *browser) at(h *harness, place string) *tab {
	b.t.Helper()
	p := b.tab()
	p.open(h.link())
	if place != "" {
		p.look(`location.hash = ` + quoted(place))
	}
	return p
}

// busy refuses for a while, with a message.
func busy(message string) http.Handler {
	return refusal(http.StatusServiceUnavailable, schema.NewError(schema.Overloaded, message))
}

// hide makes the page believe that another tab is looked at, or that it is again.
func (p *tab) hide(hidden bool) {
	p.t.Helper()
	p.look(fmt.Sprintf(`(Object.defineProperty(document, "hidden", { value: %v, configurable: true }), document.dispatchEvent(new Event("visibilitychange")))`, hidden))
}

// listens begins to keep what is said to whoever cannot see the page.
func (p *tab) listens() {
	p.t.Helper()
	p.look(`(() => {
		const place = document.querySelector("p.unseen[role=status]");
		window.heard = [];
		new MutationObserver(() => heard.push(place.textContent)).observe(place, { childList: true, characterData: true, subtree: true });
	})()`)
}

// spoken waits for words to be said.
func (p *tab) spoken(words string) {
	p.t.Helper()
	p.until(`heard.some((said) => said.includes(` + quoted(words) + `))`)
}

// blocked returns a run of the first item that is blocked.
func (h *harness) blocked() string {
	h.t.Helper()
	h.write("tasks.md", "- [ ] 1. One\n- [ ] 2. Two\n")
	run := h.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "1"})["run"].(map[string]any)["run_id"].(string)
	for range 2 {
		h.call("ingest_output", map[string]any{"run_id": run, "role": "worker", "output": "Well."})
	}
	require.Equal(h.t, "blocked", h.call("get_snapshot", map[string]any{"run_id": run})["status"])
	return run
}

// TestListInALowWindowShowsWhatIsSeen: enlarged twice, a window is low and the page scrolls as a whole. The list had no
// height of its own then, showed all of its rows, and so read one page after the other.
func TestListInALowWindowShowsWhatIsSeen(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const all = 600
	for i := range all {
		h.create(map[string]any{"prompt": fmt.Sprintf("Task number %d.", i)})
	}
	p := newBrowser(t).tab()
	p.size(683, 340)
	p.open(h.link())
	p.look(`location.hash = "#/tasks"`)
	p.sees(fmt.Sprintf("Task number %d.", all-1))
	require.Equal(t, true, p.look(`document.querySelector(".rows").clientHeight <= innerHeight`), "the list is as high as its rows")
	p.until(`document.querySelector(".rows-end").innerText.includes("100 tasks so far")`)
	require.Less(t, p.look(`document.querySelectorAll(".row").length`), float64(40))
	require.Less(t, h.asked("GET /api/tasks"), 5, "more was read than can be seen")
	p.until(`(document.querySelector(".rows").scrollTop = 1e9, document.body.innerText.includes("Task number 0."))`)
	require.Less(t, p.look(`document.querySelectorAll(".row").length`), float64(40))
	require.Equal(t, true, p.look(`document.documentElement.scrollWidth <= innerWidth`))
}

// TestWhatCouldNotBeReadIsReadAgain: after one refusal the title told of a wrong number until something else happened,
// and "Try again" of a whole list asked nobody.
func TestWhatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asks("Move the gate", "Where to?")
	p := newBrowser(t).at(h, "#/inbox")
	p.sees("Move the gate")
	p.until(`document.title.startsWith("(1)")`)
	refused := make(chan struct{}, 100)
	h.instead("GET /api/inbox", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		busy("the list is busy").ServeHTTP(w, r)
		refused <- struct{}{}
	}))
	h.asks("Name the bell", "How is it called?")
	<-refused
	p.sees("the list is busy")
	h.instead("GET /api/inbox", nil)
	p.until(`document.title.startsWith("(2)")`) // nothing has happened since
	p.sees("Name the bell")
	p.lacks("the list is busy")
	h.instead("GET /api/tasks", busy("the tasks are busy"))
	p.look(`location.hash = "#/tasks"`)
	p.sees("the tasks are busy")
	h.instead("GET /api/tasks", nil)
	p.button("Try again")
	p.sees("Name the bell")
	p.lacks("the tasks are busy")
}

// TestInboxOfADayShowsWhatWaits: whoever comes back after sixty answered questions found sixty struck out rows, and not
// the one that waits.
func TestInboxOfADayShowsWhatWaits(t *testing.T) {
	h, p := opened(t, "#/inbox")
	const answered = 60
	ids := make([]string, 0, answered)
	for i := range answered {
		ids = append(ids, h.asks(fmt.Sprintf("Old %d", i), "What?"))
	}
	p.sees("60 things wait for you")
	for _, id := range ids {
		h.call("reply", map[string]any{"task_id": id, "reply": "x"})
	}
	for range ids {
		h.finish(h.claim(), "completed", nil)
	}
	h.asks("The one that waits", "Now?")
	p.sees("The one that waits")
	p.sees("1 thing waits for you")
	require.InDelta(t, 1, p.look(`document.querySelectorAll(".row:not(.left)").length`), 0)
	require.LessOrEqual(t, p.look(`document.querySelectorAll(".row").length`), float64(2), "beside it only the one that is open")
}

// TestSignedOutTabSaysSo: a tab whose token is refused obeyed what another one told, said that it was live, and took
// the others down with it.
func TestSignedOutTabSaysSo(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	b := newBrowser(t)
	old := b.at(h, "#/status")
	old.sees("This process")
	old.look(`sessionStorage.setItem("waybill.token", "old")`)
	old.run(reload())
	old.until(`document.querySelector("[data-link=out]") !== null`)
	good := b.at(h, "#/inbox")
	h.asks("Move the gate", "Where to?")
	good.sees("Move the gate")
	require.Equal(t, "out", old.look(`document.querySelector("[data-link]").dataset.link`))
	require.Equal(t, "live", good.look(`document.querySelector("[data-link]").dataset.link`))
	// A link that is put where the address was lets it in, and leaves no code behind.
	old.run(chromedp.Navigate(h.link()))
	old.until(`document.querySelector("[data-link=live]") !== null`)
	require.NotContains(t, old.look(`location.href`), "c=")
	old.look(`location.hash = "#/inbox"`)
	old.sees("Move the gate")
}

// TestFocusGoesAlongOnANarrowPage: what was chosen hides the list that it was chosen in, and with it went the focus.
func TestFocusGoesAlongOnANarrowPage(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asks("Move the gate", "Where to?")
	h.asks("Name the bell", "How is it called?")
	p := newBrowser(t).tab()
	p.size(400, 800)
	p.open(h.link())
	p.sees("Name the bell")
	p.press("j")
	p.press("j")
	p.until(`document.activeElement.closest(".row")?.innerText.includes("Name the bell")`)
	p.press("Enter")
	p.until(`document.activeElement.id === "detail-title"`)
	require.Contains(t, p.look(`document.activeElement.innerText`), "Name the bell")
	p.click(".back a")
	p.until(`document.activeElement.closest(".row")?.innerText.includes("Name the bell")`)
	// A plan, whose list is none of those that scroll by themselves.
	h.write("tasks.md", "- [ ] 1. One\n")
	p.look(`location.hash = "#/plans"`)
	p.focus(".row a")
	p.press("Enter")
	p.until(`document.activeElement.id === "detail-title"`)
	p.press("Escape")
	p.until(`document.activeElement.closest(".row") !== null`)
	// Where both are seen, the focus stays where it is.
	p.size(1280, 800)
	p.look(`location.hash = "#/inbox"`)
	p.sees("Move the gate")
	p.focus(`.row a`)
	p.press("Enter")
	p.sees("The question")
	require.Equal(t, true, p.look(`document.activeElement.closest(".row")?.innerText.includes("Move the gate")`))
}

// TestScreenReaderAnnouncements: whoever cannot see the page was not told of new questions, nor that the connection broke.
func TestScreenReaderAnnouncements(t *testing.T) {
	h, p := opened(t, "#/status")
	p.sees("This process")
	p.listens()
	h.asks("Move the gate", "Where to?")
	p.spoken("1 thing waits for you.")
	h.instead("GET /api/events", busy("come later"))
	h.mu.Lock()
	h.front.CloseClientConnections()
	h.mu.Unlock()
	p.spoken("The connection broke.")
	h.instead("GET /api/events", nil)
	p.spoken("up to date again")
	require.Equal(t, "BODY", p.look(`document.activeElement.tagName`))
}

// TestIdlePageHasNoAnimationsOrReads: a task at work moved a bar for ever, and a tab behind others read everything again with every
// event.
func TestIdlePageHasNoAnimationsOrReads(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.create(map[string]any{"prompt": "Oil the works."})
	p := newBrowser(t).at(h, "#/tasks/"+h.claim())
	p.until(`document.querySelector(".timeline .state")?.innerText.includes("running")`)
	require.InDelta(t, 0, p.look(`document.getAnimations().length`), 0, "something moves that no event has moved")
	p.hide(true)
	h.asks("Move the gate", "Where to?")
	p.until(`document.title.startsWith("(1)")`) // that much is told by a tab that nobody looks at
	asked := h.asked("GET /api/tasks")
	h.asks("Name the bell", "How is it called?")
	p.until(`document.title.startsWith("(2)")`)
	require.Equal(t, asked, h.asked("GET /api/tasks"), "a list that nobody sees was read")
	p.hide(false)
	p.sees("2 new ones")
}

// TestNothingLeaksFromOneThingToAnother: the refusal of one item stood under the next.
func TestNothingLeaksFromOneThingToAnother(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.write("tasks.md", "- [ ] 1. One\n- [ ] 2. Two\n")
	p := newBrowser(t).at(h, "#/plans/tasks.md/1")
	h.instead("POST /api/plans/tasks.md/items/1/status", busy("item one is refused"))
	p.confirm("Mark completed")
	p.sees("item one is refused")
	p.look(`location.hash = "#/plans/tasks.md/2"`)
	p.until(`document.querySelector("#item-title").innerText.includes("Two")`)
	require.NotContains(t, p.text(".item-pane"), "item one is refused")
}

// TestNoticesAreMarkedThatWereSeen: between the question and the answer two more came, and were marked as seen, too.
func TestNoticesAreMarkedThatWereSeen(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asks("Move the gate", "Where to?")
	p := newBrowser(t).at(h, "#/notices")
	p.button("Mark 1 as seen")
	p.until(`document.querySelector("dialog") !== null`)
	h.asks("Name the bell", "How is it called?")
	h.asks("Paint the fence", "Which colour?")
	p.until(`document.querySelector(".list-head .act button").innerText === "Mark 3 as seen"`)
	require.Contains(t, p.text("dialog"), "Mark 1 as seen")
	p.click("dialog button.primary")
	p.until(`document.querySelector(".list-head .act button").innerText === "Mark 2 as seen"`)
	require.Len(t, h.call("list_notices", nil)["items"].([]any), 2)
	// What is looked for is what is marked.
	p.focus("#filter")
	p.write("bell")
	p.sees("1 notice")
	p.confirm("Mark 1 as seen")
	p.sees("No notice matches.")
	require.Len(t, h.call("list_notices", nil)["items"].([]any), 1)
}

// TestFilterWaitsForTheWord: every key asked the server anew.
func TestFilterWaitsForTheWord(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.asks("Move the gate", "Where to?")
	h.asks("Name the bell", "How is it called?")
	p := newBrowser(t).at(h, "#/tasks")
	p.sees("Name the bell")
	p.focus("#filter")
	p.look(`(() => { // the time stands still for the filter
		const real = setTimeout;
		window.later = [];
		window.setTimeout = (fn, ms, ...more) => (ms === 150 ? -later.push(fn) : real(fn, ms, ...more));
	})()`)
	runs := make(chan string, 100) // that were looked for
	h.instead("GET /api/tasks", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if run := r.URL.Query().Get("run_id"); run != "" {
			runs <- run
		}
		h.inner.ServeHTTP(w, r)
	}))
	for _, key := range "run:run_0123456" {
		p.press(string(key))
	}
	p.look(`(window.passed = false, fetch("/healthz").finally(() => (passed = true)), 1)`)
	p.until(`passed`)
	require.Empty(t, runs, "a word was looked for that was not whole")
	p.look(`later.at(-1)()`)
	p.sees("No task matches.")
	require.Equal(t, "run_0123456", <-runs)
	require.Equal(t, "#/tasks?q=run%3Arun_0123456", p.look(`location.hash`))
	// The inbox has one, too.
	p.look(`location.hash = "#/inbox"`)
	p.sees("2 things wait for you")
	p.look(`document.activeElement.blur()`)
	p.press("/")
	p.write("called")
	p.look(`document.activeElement.blur()`) // who goes elsewhere has typed what is looked for
	p.until(`document.querySelectorAll(".row").length === 1`)
	require.Contains(t, p.text(".row"), "Name the bell")
}

// TestOneInstructionIsReadAlone: to show one of them the list was read until it came, and again with each of its events.
func TestOneInstructionIsReadAlone(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const all = 600
	var last string
	for i := range all {
		last = h.call("queue_instruction", map[string]any{"content": fmt.Sprintf("Do number %d.", i)})["instruction"].(map[string]any)["instruction_id"].(string)
	}
	p := newBrowser(t).at(h, "#/instructions/"+last)
	p.sees(fmt.Sprintf("Do number %d.", all-1))
	require.Less(t, h.asked("GET /api/instructions"), 5, "it was looked for in the list")
	require.Positive(t, h.asked("GET /api/instructions/"+last))
	p.confirm("Cancel the instruction")
	p.until(`document.querySelector(".detail .state").innerText.includes("cancelled")`)
	p.look(`location.hash = "#/instructions/ins_none"`)
	p.sees("INSTRUCTION_NOT_FOUND")
}

// TestLongPlanShowsWhatIsSeen: of ten thousand items every one was put on the page, which took seconds.
func TestLongPlanShowsWhatIsSeen(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const all = 10000
	var s strings.Builder
	for i := range all {
		fmt.Fprintf(&s, "- [ ] %d. Item\n", i+1)
	}
	h.write("tasks.md", s.String())
	p := newBrowser(t).at(h, "#/plans/tasks.md")
	p.sees("0 of 10,000 done")
	p.until(`document.querySelectorAll(".tree li").length > 0`)
	require.Less(t, p.look(`document.querySelectorAll("*").length`), float64(5000))
	p.until(`(document.querySelector(".detail-pane").scrollTop = 1e9, [...document.querySelectorAll(".tree .item-id")].some((e) => e.innerText === "10000"))`)
	require.Less(t, p.look(`document.querySelectorAll("*").length`), float64(5000))
	p.look(`[...document.querySelectorAll(".tree a")].find((a) => a.innerText.startsWith("10000")).focus()`)
	p.press("Enter")
	p.until(`document.querySelector("#item-title")?.innerText.startsWith("10000")`)
	p.inspectable()
	p.accessible("a long plan")
}

// TestNewPlanThatIsBeingWrittenStays: when somebody else ended the block, the text vanished under the hands of who
// wrote it.
func TestNewPlanThatIsBeingWrittenStays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.blocked()
	p := newBrowser(t).at(h, "#/runs/"+run)
	p.click(".replan summary")
	p.focus(".replan textarea")
	p.write("Take another road.")
	h.call("replan", map[string]any{"run_id": run, "summary": "Somebody was faster.", "plan_items": []string{"Dig elsewhere"}})
	p.sees("The run is no longer blocked.")
	require.Equal(t, "Take another road.", p.look(`document.activeElement.value`))
	p.look(`((a) => { a.value = ""; a.dispatchEvent(new Event("input", { bubbles: true })); })(document.activeElement)`)
	p.until(`document.querySelector(".replan") === null`)
}
