package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// withNeighbour returns a harness whose page reaches a second workspace, too.
func withNeighbour(t *testing.T) (h, other *harness) {
	t.Helper()
	t.Parallel()
	h, other = newHarness(t), newHarness(t)
	h.others = []*harness{other}
	return h, other
}

// TestQuestionOfAnotherWorkspaceIsAnsweredFromTheInbox: the home of the page has what waits in all workspaces, and an
// answer goes to the store of the one that asked.
func TestQuestionOfAnotherWorkspaceIsAnsweredFromTheInbox(t *testing.T) {
	h, other := withNeighbour(t)
	mine := h.asks("Move the gate", "Where to?")
	p := newBrowser(t).at(h, "")
	p.until(`location.hash.includes(` + quoted(mine) + `)`) // the first entry is open
	theirs := other.asks("Wind the clock", "**Which** `key`?")
	p.sees("Which key?")
	p.until(`document.title.startsWith("(2)")`)
	p.look(`[...document.querySelectorAll(".row a")].find((a) => a.innerText.includes("Wind the clock")).click()`)
	p.until(`document.querySelector("#detail-title")?.innerText === "Wind the clock"`)
	p.until(`document.querySelector(".where").innerText.includes(` + quoted(other.dir) + `)`)
	p.focus("#reply")
	p.write("The small one.")
	p.press("Enter")
	p.sees("Your answer was taken.")
	require.Equal(t, []string{"The small one."}, other.replies(theirs))
	require.Empty(t, h.replies(mine))
	p.look(`document.activeElement.blur()`)
	p.press("n") // to the next question, which another workspace asks
	p.until(`document.querySelector("#detail-title")?.innerText === "Move the gate"`)
	p.until(`document.querySelector(".where").innerText.includes(` + quoted(h.dir) + `)`)
	p.until(`document.title.startsWith("(1)")`)
}

// TestAnswerGoesToTheWorkspaceThatAsked: the page reads a task before it sends an answer. A person who went to another
// workspace during that reading took the answer with them.
func TestAnswerGoesToTheWorkspaceThatAsked(t *testing.T) {
	h, other := withNeighbour(t)
	mine := h.asks("Move the gate", "Where to?")
	theirs := other.asks("Wind the clock", "Which key?")
	p := newBrowser(t).at(h, "")
	p.look(`location.hash = "#/inbox/` + theirs + `?w=` + other.place().ID + `"`)
	p.until(`document.querySelector("#detail-title")?.innerText === "Wind the clock"`)
	p.focus("#reply")
	p.write("The small one.")
	came, release := h.holds("GET /api/workspaces/"+other.place().ID+"/tasks/"+theirs, "")
	p.press("Enter")
	<-came
	p.look(`location.hash = "#/inbox/` + mine + `"`)
	p.until(`document.querySelector("#detail-title")?.innerText === "Move the gate"`)
	release()
	p.until(`document.title.startsWith("(1)")`)
	require.Equal(t, []string{"The small one."}, other.replies(theirs))
	require.Zero(t, h.asked("POST /api/tasks/"+theirs+"/reply"), "the answer went to the workspace that was shown later")
}

// TestManyFailuresNeedOneRetry: 40 failed tasks had to be retried one by one. The action can be taken back, and what
// did not succeed can be tried again.
func TestManyFailuresNeedOneRetry(t *testing.T) {
	h, other := withNeighbour(t)
	var failed []string
	fail := func(in *harness, n int) {
		for i := range n {
			in.create(map[string]any{"prompt": fmt.Sprintf("Sort box %d.", i), "max_attempts": 1})
			id := in.claim()
			in.finish(id, "error", map[string]any{"error": map[string]any{"class": "terminal", "message": "no such box"}})
			failed = append(failed, id)
		}
	}
	fail(h, 30)
	fail(other, 10)
	p := newBrowser(t).at(h, "")
	p.button("Retry all 40")
	p.sees("40 entries will be retried.")
	p.press("z")
	p.lacks("40 entries")
	require.Equal(t, "ERROR", h.status(failed[0]))

	h.instead("POST /api/tasks/"+failed[3]+"/retry", refusal(503, schema.NewError(schema.StoreBusy, "the store is busy")))
	p.button("Retry all 40")
	p.button("Now")
	p.sees("39 retried, 1 not: the store is busy.")
	require.Equal(t, "QUEUED", h.status(failed[0]))
	require.Equal(t, "QUEUED", other.status(failed[39]))
	require.Equal(t, "ERROR", h.status(failed[3]))
	h.instead("POST /api/tasks/"+failed[3]+"/retry", nil)
	p.button("Try again")
	p.sees("40 retried.")
	p.sees("0 things wait for you")
	require.Equal(t, "QUEUED", h.status(failed[3]))
}

// TestDamagedWorkspaceIsShownAsSuch: a workspace that is gone hides no other, and says what to do.
func TestDamagedWorkspaceIsShownAsSuch(t *testing.T) {
	h, other := withNeighbour(t)
	other.asks("Wind the clock", "Which key?")
	other.mu.Lock()
	other.gone = "the folder was moved or deleted, or its disk is away"
	other.mu.Unlock()
	h.asks("Move the gate", "Where to?")
	p := newBrowser(t).at(h, "")
	p.sees("Workspaces that are gone")
	p.sees("Move the gate")
	p.look(`[...document.querySelectorAll(".row a")].at(-1).click()`)
	p.sees("with 1 thing waiting in its store")
	p.until(`document.title.startsWith("(1)")`)
}

// TestSeenEndsTheListOfWhatHasEnded: what was done is listed until the person has seen it, however often the page is
// loaded.
func TestSeenEndsTheListOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.write("tasks.md", "- [ ] 1. Dig the well\n")
	run := h.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "1", "policy": map[string]any{"reviewers": []any{}}})["run"].(map[string]any)["run_id"].(string)
	h.call("ingest_output", map[string]any{"run_id": run, "role": "worker", "output": "role: worker\ntask_id: 1\nstatus: pass\ngit_range: 3f1c9e0..a40d77b\nissues: none\nfiles_changed: a\nconfidence: high\n"})
	p := newBrowser(t).at(h, "")
	p.sees("Only said to be done")
	p.run(reload())
	p.sees("Dig the well")
	p.button("Mark as seen")
	p.until(`document.querySelector(".row:not(.left)") === null`) // the one that is open stays until it is left
	p.run(reload())
	p.sees("Nothing waits for you.")
	p.lacks("Only said to be done")
}

// TestServerThatIsGoneIsSaidBesideTheText: "No answer. waybill does not answer" did not say what became of the text.
func TestServerThatIsGoneIsSaidBesideTheText(t *testing.T) {
	h, _, p := asked(t, "Move the gate", "Where to?")
	p.write("To the street.")
	h.shut()
	p.press("Enter")
	p.sees("Not sent, your text is kept.")
	require.Equal(t, "To the street.", p.look(`document.querySelector("#reply").value`))
	p.sees("waybill has ended or does not answer.")
}

// TestPlansAreWalkedByKeys: j and k did nothing in the list of plans, and ↓ did nothing after g t.
func TestPlansAreWalkedByKeys(t *testing.T) {
	h, p := opened(t, "#/plans")
	h.write("tasks.md", "- [ ] 1. One\n")
	h.write("specs/garden/tasks.md", "- [ ] 1. Dig\n")
	h.create(map[string]any{"prompt": "Sweep the tower."})
	p.run(reload())
	p.sees("specs/garden/tasks.md")
	p.press("j")
	p.press("j")
	p.until(`document.activeElement.closest(".row")?.innerText.startsWith("tasks.md")`)
	p.press("k")
	p.until(`document.activeElement.closest(".row")?.innerText.startsWith("specs/garden")`)
	p.look(`document.activeElement.blur()`)
	p.press("g")
	p.press("t")
	p.sees("Sweep the tower.")
	p.press("ArrowDown")
	p.until(`document.activeElement.closest(".row")?.innerText.includes("Sweep the tower.")`)
}

// TestMarkThatTheNotationHasNotIsNotOffered: "Mark blocked" was offered where no box of the plan says that.
func TestMarkThatTheNotationHasNotIsNotOffered(t *testing.T) {
	h, p := opened(t, "")
	h.write("tasks.md", "- [ ] 1. One\n- [x] 2. Two\n")
	marks, _ := h.call("get_plan", map[string]any{"plan": "tasks.md"})["marks"].(map[string]any)
	p.look(`location.hash = "#/plans/tasks.md/1"`)
	p.sees("Mark completed")
	offered := p.text(".item-pane .buttons")
	for _, status := range []string{"in_progress", "blocked", "skipped"} {
		known := false
		for _, of := range marks {
			known = known || of == status
		}
		word := map[string]string{"in_progress": "Mark in progress", "blocked": "Mark blocked", "skipped": "Mark skipped"}[status]
		if known {
			require.Contains(t, offered, word)
		} else {
			require.NotContains(t, offered, word)
		}
	}
}

// TestReplyBoxIsInReachOnAPhone: a long question filled the screen of a phone, and the box was below it.
func TestReplyBoxIsInReachOnAPhone(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.offers("Move the gate", map[string]any{
		"question": strings.Repeat("Where to, and why there?\n\n", 60), "options": []any{map[string]any{"label": "Left"}, map[string]any{"label": "Right"}},
	})
	p := newBrowser(t).tab()
	p.size(375, 700)
	p.open(h.link())
	p.look(`location.hash = ` + quoted("#/inbox/"+id))
	p.until(`document.querySelector("#reply") !== null && document.querySelector(".detail-pane").scrollTop === 0`)
	for _, of := range []string{"#reply", ".options button", "form.reply button[type=submit]"} {
		box := `document.querySelector(` + quoted(of) + `).getBoundingClientRect()`
		p.until(box + `.bottom <= document.querySelector("footer").getBoundingClientRect().top && ` + box + `.top > 0`)
	}
	require.Equal(t, true, p.look(`document.querySelector(".top").offsetHeight <= 48`), "the header is high")
	small := `[...document.querySelectorAll("button, nav a")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 43).map((e) => e.innerText)`
	require.Empty(t, p.look(small), "a thumb does not hit this")
	p.narrow("a question on a phone")
	p.picture("reply-phone")
}

// TestStoryOfALongRunHasItsEnd: a story had the first 200 receipts alone, and said nothing of the others.
func TestStoryOfALongRunHasItsEnd(t *testing.T) {
	h, p := opened(t, "")
	h.write("tasks.md", "- [ ] 1. One\n")
	run := h.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "1"})["run"].(map[string]any)["run_id"].(string)
	for i := range 201 {
		h.call("report_check", map[string]any{"run_id": run, "check": fmt.Sprintf("check-%d", i), "outcome": "green", "exit_code": 0, "command": "make"})
	}
	p.look(`location.hash = "#/runs/` + run + `"`)
	p.sees("check-0:")
	p.sees("check-200:")
	p.lacks("too long for the page")
}
