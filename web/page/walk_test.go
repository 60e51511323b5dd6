package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestKeysWalkThePage: everything that matters can be reached without a mouse, and single keys count only where no
// text is typed.
func TestKeysWalkThePage(t *testing.T) {
	h, w := settled(t)
	p := newBrowser(t).at(h, "")
	p.sees("Print the labels")
	p.until(`document.querySelector(".row a[aria-current=true]") !== null`) // the first one is open
	p.press("j")
	p.until(`document.activeElement.closest(".row")?.innerText.includes("Write to the readers")`)
	p.press("ArrowDown")
	p.until(`document.activeElement.closest(".row")?.innerText.includes("Print the labels")`)
	p.press("k")
	p.press("k")
	p.until(`document.activeElement.closest(".row")?.innerText.includes("Order the shelves")`)
	p.press("Enter")
	p.until(`location.hash.endsWith(` + quoted(w.shelves) + `)`)
	p.until(`document.querySelector("#reply") !== null`)
	p.press("r")
	require.Equal(t, "reply", p.look(`document.activeElement.id`))
	p.press("j")
	p.press("g")
	p.press("?")
	require.Equal(t, "jg?", p.look(`document.querySelector("#reply").value`), "a key that was typed was taken for a command")
	p.press("Escape")
	require.Equal(t, "BODY", p.look(`document.activeElement.tagName`))
	p.press("Escape")
	p.until(`location.hash === "#/inbox"`)
	for key, at := range map[string]string{"t": "#/tasks", "r": "#/runs", "p": "#/plans", "n": "#/notices", "c": "#/instructions", "s": "#/status", "i": "#/inbox"} {
		p.press("g")
		p.press(key)
		p.until(`location.hash.startsWith(` + quoted(at) + `)`)
	}
	p.press("g")
	p.press("t")
	p.until(`document.querySelector("h1")?.innerText === "Tasks" && document.querySelector("#filter") !== null`) // and not that of the view before
	p.press("/")
	p.write("status:failed")
	p.sees("1 task")
	require.Equal(t, "#/tasks?q=status%3Afailed", p.look(`location.hash`))
	p.press("Escape")
	p.press(".")
	p.sees("paused")
	p.press(".")
	p.lacks("paused")
	p.press("?")
	p.until(`document.querySelector("dialog[open]") !== null`)
	p.press("Escape")
	p.until(`document.querySelector("dialog") === null`)
	p.press("?")
	p.click(`dialog input[type=checkbox]`)
	p.button("Close")
	p.until(`document.querySelector("dialog") === null`)
	p.press(".")
	p.press("j")
	require.NotContains(t, p.text("footer"), "paused", "a key was a command though they are switched off")
}

// TestThemeIsChosenAndKept: colours follow the system until somebody chooses, and then the choice.
func TestThemeIsChosenAndKept(t *testing.T) {
	h, p := opened(t, "")
	ground := `getComputedStyle(document.body).backgroundColor`
	require.Equal(t, "rgb(251, 251, 249)", p.look(ground))
	p.prefer("prefers-color-scheme", "dark")
	p.until(ground + ` === "rgb(22, 24, 27)"`)
	p.press("?")
	p.look(`[...document.querySelectorAll("dialog input[type=radio]")].find((r) => r.parentElement.innerText.trim() === "light").click()`)
	p.until(ground + ` === "rgb(251, 251, 249)"`)
	p.run(reload())
	p.until(`document.querySelector("[data-link=live]") !== null`)
	require.Equal(t, "rgb(251, 251, 249)", p.look(ground), "the choice is forgotten")
	p.prefer("prefers-reduced-motion", "reduce")
	h.create(map[string]any{"prompt": "Run."})
	p.look(`location.hash = "#/tasks/` + h.claim() + `"`)
	p.sees("running")
	require.InDelta(t, 0, p.look(`document.getAnimations().length`), 0)
}

// TestActionsDoWhatTheySay: each asks where it should, does it, and the page shows what came of it.
func TestActionsDoWhatTheySay(t *testing.T) {
	h, w := settled(t)
	p := newBrowser(t).at(h, "#/tasks/"+w.failed)
	p.button("Retry")
	p.until(`document.querySelector(".under .state").innerText.includes("queued")`)
	require.Equal(t, "QUEUED", h.status(w.failed))

	p.button("Cancel the task")
	p.button("Leave it")
	p.until(`document.querySelector("dialog") === null`)
	require.Equal(t, "QUEUED", h.status(w.failed), "it was cancelled though it was to be left")
	p.until(`document.activeElement.innerText === "Cancel the task"`) // the focus is back
	p.confirm("Cancel the task")
	p.until(`document.querySelector(".under .state").innerText.includes("cancelled")`)
	require.Equal(t, "CANCELLED", h.status(w.failed))

	p.look(`location.hash = "#/instructions/` + w.instruction + `"`)
	p.button("Queue it again")
	p.until(`!location.hash.includes("` + w.instruction + `")`)
	p.until(`document.querySelector(".detail .state")?.innerText.includes("queued")`)
	again := h.call("list_instructions", map[string]any{"state": "queued", "session_id": "ses_clock"})["items"].([]any)
	require.Len(t, again, 1)
	require.InDelta(t, 2, again[0].(map[string]any)["sends_max"], 0)

	p.look(`location.hash = "#/plans/tasks.md/2.3"`)
	p.confirm("Mark completed")
	p.until(`document.querySelector(".item-pane .state").innerText.includes("completed")`)

	p.look(`location.hash = "#/plans/tasks.md/3"`)
	p.confirm("Start a run")
	p.until(`location.hash.startsWith("#/runs/run_")`)
	p.sees("Open the doors")

	p.look(`location.hash = "#/notices"`)
	p.until(`document.querySelector(".row") !== null`)
	p.click(`.list-head button`)
	p.until(`document.querySelector("dialog") !== null`)
	p.click(`dialog button.primary`)
	p.sees("No notices are open.")
}

// TestFaultW14_SevenTabsShareOneStream: a browser holds six connections to one server. With a stream for each tab the
// seventh would wait for ever.
func TestFaultW14_SevenTabsShareOneStream(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	b := newBrowser(t)
	first := b.tab()
	first.open(h.link())
	tabs := []*tab{first}
	for range 6 {
		p := b.tab()
		p.open(h.link())
		tabs = append(tabs, p)
	}
	require.Equal(t, 1, h.asked("GET /api/events"))
	id := h.asks("Move the gate", "Where to?")
	for _, p := range tabs {
		p.sees("Where to?")
	}
	last := tabs[6]
	last.look(`location.hash = "#/inbox/" + ` + quoted(id))
	last.focus("#reply")
	last.write("To the street.")
	last.press("Enter")
	last.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"To the street."}, h.replies(id))
	// The tab that reads the stream goes; another one takes over, and misses nothing.
	first.run(chromedp.Navigate("about:blank"))
	h.asks("Name the bell", "How is it called?")
	for _, p := range tabs[1:] {
		p.sees("How is it called?")
		p.until(`document.querySelector("[data-link=live]") !== null`)
	}
	require.Equal(t, 2, h.asked("GET /api/events"))
	// It comes back as it was, and is told what it has missed.
	first.run(chromedp.NavigateBack())
	first.sees("How is it called?")
	first.until(`document.querySelector("[data-link=live]") !== null`)
	h.asks("Paint the fence", "Which colour?")
	for _, p := range tabs {
		p.sees("Which colour?")
	}
	require.Equal(t, 2, h.asked("GET /api/events"))
}

// TestTabThatTakesOverBeforeAnyEventMissesNothing: between the stream of one tab and that of the next something
// happened, and neither has told of an event from which on to look.
func TestTabThatTakesOverBeforeAnyEventMissesNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	b := newBrowser(t)
	first, second := b.tab(), b.tab()
	first.open(h.link())
	second.open(h.link())
	came, release := h.holds("GET /api/events", "")
	first.run(chromedp.Navigate("about:blank"))
	<-came
	h.asks("Move the gate", "Where to?")
	release()
	second.sees("Where to?")
}

// TestLongListShowsWhatIsSeen: of thousands of tasks, the newest first, only those are on the page that can be seen,
// and all can be reached.
func TestLongListShowsWhatIsSeen(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const all = 2400
	h.create(map[string]any{"prompt": "The oldest of all."})
	for i := range all - 1 {
		h.create(map[string]any{"prompt": fmt.Sprintf("Task number %d.", i+1)})
	}
	p := newBrowser(t).at(h, "#/tasks")
	p.sees(fmt.Sprintf("Task number %d.", all-1))
	p.sees("100 tasks so far")
	require.Less(t, p.look(`document.querySelectorAll(".row").length`), float64(40))
	p.until(`(document.querySelector(".rows").scrollTop = 1e9, document.querySelector(".rows-end").innerText.startsWith("2,400 tasks") && !document.querySelector(".rows-end").innerText.includes("so far"))`)
	p.sees("The oldest of all.")
	require.Less(t, p.look(`document.querySelectorAll(".row").length`), float64(40))
	top := p.look(`document.querySelector(".rows").scrollTop`)
	id := h.create(map[string]any{"prompt": "One more."})
	p.sees("Show 1 new one")
	require.Equal(t, top, p.look(`document.querySelector(".rows").scrollTop`), "the list has moved")
	require.NotContains(t, p.text(".rows"), "One more.")
	// What is looked for is looked for among the newest, and further only if that is wanted.
	p.focus("#filter")
	p.write("oldest")
	p.sees("0 tasks among the first 2,000")
	p.button("Look further")
	p.sees("1 task")
	p.sees("The oldest of all.")
	// One that is named by its id is found at once.
	asked := h.asked("GET /api/tasks")
	p.look(`location.hash = "#/tasks?q=task%3A` + id + `"`)
	p.sees("One more.")
	require.Equal(t, asked, h.asked("GET /api/tasks"), "it was looked for in a list")
	p.look(`location.hash = "#/tasks?q=task%3Atsk_0192f0c1-7d3a-7abc-8def-000000000000"`)
	p.sees("No task matches.")
	// One that leaves what is looked for stays where it is under the hand of who is there, and says so.
	p.look(`location.hash = "#/tasks?q=status%3Aqueued"`)
	p.sees("One more.")
	p.focus(".row a")
	h.call("cancel_task", map[string]any{"task_id": id})
	p.until(`document.querySelector('.row[data-row="0"]').classList.contains("left")`)
	require.Contains(t, p.text(`.row[data-row="0"]`), "One more.")
	p.button("Clear those that left")
	p.until(`!document.body.innerText.includes("One more.")`)
}

// TestZoom200NeedsNoSidewaysScroll: at 200 % nothing is lost, and nothing has to be scrolled sideways.
func TestZoom200NeedsNoSidewaysScroll(t *testing.T) {
	h, w := settled(t)
	p := newBrowser(t).tab()
	p.size(640, 400)
	p.open(h.link())
	for _, s := range sights(w) {
		p.look(`location.hash = ` + quoted(s.at))
		p.sees(s.words[0])
		p.narrow(s.name)
	}
	p.look(`location.hash = "#/inbox/` + w.shelves + `"`)
	p.focus("#reply")
	at := p.look(`(({ top, bottom }) => [top, bottom, innerHeight])(document.querySelector("#reply").getBoundingClientRect())`).([]any)
	const edge = 4 // of the box, which a browser does not scroll for
	require.True(t, at[0].(float64) >= 0 && at[1].(float64) <= at[2].(float64)+edge, "who types does not see the box: %v", at)
	p.size(320, 640)
	p.look(`document.documentElement.style.fontSize = "200%"`)
	for _, s := range sights(w) {
		p.look(`location.hash = ` + quoted(s.at))
		p.sees(s.words[0])
		if s.name == "notices" {
			p.sees(s.words[1]) // the button for all was too wide
		}
		require.Equal(t, true, p.look(`document.documentElement.scrollWidth <= innerWidth`), strings.ToUpper(s.name))
	}
}

// TestReadThatLostItsConnectionIsAskedAgain: a browser on a machine that changed its network breaks off what is under way.
func TestReadThatLostItsConnectionIsAskedAgain(t *testing.T) {
	h, w := settled(t)
	p := newBrowser(t).at(h, "#/status")
	at := "GET /api/runs/" + w.run + "/receipts"
	h.instead(at, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		h.instead(at, nil)
		brokenOff(rw)
	}))
	p.look(`location.hash = ` + quoted("#/runs/"+w.run))
	p.sees("make-test: red")
	p.lacks("waybill does not answer")
	h.instead(at, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { brokenOff(rw) }))
	asked := h.asked(at)
	p.look(`location.hash = "#/status"`)
	p.sees("What is wrong")
	p.look(`location.hash = ` + quoted("#/runs/"+w.run))
	p.sees("waybill does not answer")
	require.Equal(t, asked+2, h.asked(at), "it is asked once more, and not for ever")
}

// brokenOff answers with the beginning of something, and breaks the connection.
func brokenOff(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "100")
	_, _ = w.Write([]byte(`{"prompt":`))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TestActionThatGotNoAnswerIsDoneOnce: what was pressed again because nobody knew whether it took effect, takes effect
// once.
func TestActionThatGotNoAnswerIsDoneOnce(t *testing.T) {
	h, w := settled(t)
	p := newBrowser(t).at(h, "#/instructions/"+w.instruction)
	h.loses("POST /api/instructions")
	p.button("Queue it again")
	p.sees("waybill does not answer")
	h.instead("POST /api/instructions", nil)
	p.button("Queue it again")
	p.until(`!location.hash.includes("` + w.instruction + `")`)
	queued := h.call("list_instructions", map[string]any{"state": "queued", "session_id": "ses_clock"})["items"].([]any)
	require.Len(t, queued, 1, "it was queued twice")
}
