package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"waybill/schema"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestReplyContinuesTheTask: a question appears in the inbox by itself, a person answers, and the task goes on.
func TestReplyContinuesTheTask(t *testing.T) {
	h, p := opened(t, "")
	p.sees("Nothing waits for you.")
	require.Equal(t, "", p.look(`location.hash`), "the code is still in the address")

	id := h.asks("Move the garden gate", "Should the gate open to the street?")
	p.sees("Should the gate open to the street?")
	p.until(`document.title.startsWith("(1)")`)
	p.picture("inbox")

	p.click(`.row a`)
	p.sees("So far: half of it.")
	require.Equal(t, "Type your reply...", p.look(`document.querySelector("#reply").placeholder`))
	require.Equal(t, true, p.look(`document.querySelector(".reply [type=submit]").disabled`), "a blank reply can be sent")

	p.focus("#reply")
	p.write("   ")
	p.press("Enter")
	require.Equal(t, true, p.look(`document.querySelector(".reply [type=submit]").disabled`))
	p.write("To the garden.")
	before := h.asked("GET /api/tasks/" + id)
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, "QUEUED", h.status(id))
	require.Equal(t, []string{"   To the garden."}, h.replies(id))
	require.Greater(t, h.asked("GET /api/tasks/"+id), before, "the status was not read again")
	p.until(`!document.title.startsWith("(")`)
	require.Equal(t, "detail-title", p.look(`document.activeElement.id`), "the focus went nowhere")
}

// TestReplyBoxGrowsAndKeepsLines: Shift+Enter begins a line, the box grows with its text, and then it scrolls.
func TestReplyBoxGrowsAndKeepsLines(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	height := func() float64 {
		return p.look(`document.querySelector("#reply").getBoundingClientRect().height`).(float64)
	}
	one := height()
	p.write("one")
	p.press("Enter", chromedp.ModifierShift)
	p.write("two")
	require.Equal(t, "one\ntwo", p.look(`document.querySelector("#reply").value`))
	// While an input method composes, Enter chooses a word.
	p.look(`document.querySelector("#reply").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }))`)
	require.Equal(t, "AWAITING_RESPONSE", h.status(id), "it was sent")
	require.Equal(t, 0, h.keys())
	two := height()
	require.Greater(t, two, one)
	for range 30 {
		p.press("Enter", chromedp.ModifierShift)
	}
	full := height()
	require.Greater(t, full, two)
	for range 10 {
		p.press("Enter", chromedp.ModifierShift)
	}
	require.InDelta(t, full, height(), 1, "it grows without end")
	require.Equal(t, true, p.look(`(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector("#reply"))`))
}

// TestFirstAnswerWinsInTwoTabs: of two people who answer at once one is told who was faster, and keeps the text.
func TestFirstAnswerWinsInTwoTabs(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	b := newBrowser(t)
	ada, bob := b.tab(), b.tab()
	for _, p := range []*tab{ada, bob} {
		p.open(h.link())
		p.look(`location.hash = "#/inbox/" + ` + quoted(id))
		p.focus("#reply")
	}
	ada.press("Escape")
	ada.called("Ada")
	ada.focus("#reply")
	ada.write("To the street.")
	bob.write("To the garden.")
	// Bob's page has asked for the status and found that the task waits; then Ada is faster.
	came, release := h.holds("POST /api/tasks/"+id+"/reply", "To the garden.")
	bob.press("Enter")
	<-came
	ada.press("Enter")
	ada.until(`document.querySelector("#reply") === null`)
	release()
	bob.sees("Answered by Ada: ")
	bob.sees("To the street.")
	require.Equal(t, "To the garden.", bob.look(`document.querySelector("#reply").value`), "the draft is lost")
	bob.until(`document.querySelector("#reply").readOnly`)
	bob.picture("late")
	require.Equal(t, []string{"To the street."}, h.replies(id))
	bob.discard()
	bob.until(`document.querySelector("#reply") === null`)
}

// TestQuestionThatChangedIsSaid: an answer is to the question that was read.
func TestQuestionThatChangedIsSaid(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	p.write("To the street.")
	p.button("Pause")
	h.call("reply", map[string]any{"task_id": id, "reply": "To the hill."})
	require.Equal(t, id, h.claim())
	h.finish(id, "awaiting_response", map[string]any{"question": "Which hill?"})
	p.focus("#reply")
	p.press("Enter")
	p.sees("The task asks something else now.")
	p.sees("Which hill?")
	require.Equal(t, 0, h.keys(), "the answer went to a question that nobody had read")
	require.Equal(t, "To the street.", p.look(`document.querySelector("#reply").value`))
	p.button("Answer this question instead")
	p.until(`document.activeElement.id === "reply"`)
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"To the hill.", "To the street."}, h.replies(id))
}

// TestDraftOutlivesTheServer: a draft is there after a reload, and after waybill could not be reached for a while.
func TestDraftOutlivesTheServer(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	p.write("To the")
	p.run(chromedp.Reload())
	p.until(`document.querySelector("#reply")?.value === "To the"`)
	p.until(`document.querySelector("[data-link=live]") !== null`)
	p.focus("#reply")
	p.press("End")
	p.write(" street.")
	address := strings.TrimPrefix(h.url(), "http://")
	h.shut()
	p.until(`document.querySelector("[data-link=reconnecting], [data-link=gone]") !== null`)
	p.write(" At once.")
	require.Equal(t, "reply", p.look(`document.activeElement.id`), "the break took the focus")
	h.open(address)
	p.until(`document.querySelector("[data-link=live]") !== null`)
	require.Equal(t, "To the street. At once.", p.look(`document.querySelector("#reply").value`))
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"To the street. At once."}, h.replies(id))
}

// TestTabIsLetInAgainWithItsDraft: a tab whose token is refused says so, takes neither the focus nor the draft, and is
// let in by an address that waybill ui prints.
func TestTabIsLetInAgainWithItsDraft(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	p.write("To the street.")
	refused := []string{"GET /api/events", "GET /api/tasks/" + id, "POST /api/tasks/" + id + "/reply"}
	for _, at := range refused {
		h.instead(at, refusal(http.StatusUnauthorized, schema.NewError(schema.Unauthorized, "who are you?")))
	}
	h.mu.Lock()
	h.front.CloseClientConnections()
	h.mu.Unlock()
	p.sees("This tab is not signed in")
	p.until(`document.querySelector("[data-link=out]") !== null`)
	require.Equal(t, "reply", p.look(`document.activeElement.id`), "the refusal took the focus")
	p.press("Enter")
	p.sees("UNAUTHORIZED")
	require.Empty(t, h.replies(id))
	for _, at := range refused {
		h.instead(at, nil)
	}
	p.focus(".sign-in input")
	for _, line := range [][2]string{
		{"ada", "That is not an address that waybill ui prints."},
		{"http://127.0.0.1:1/#c=1", "That address belongs to another page"},
		{h.link() + "0", "That address was used before"},
		{h.link(), ""},
	} {
		p.look(`document.querySelector(".sign-in input").select()`)
		p.write(line[0])
		p.press("Enter")
		p.sees(line[1])
	}
	p.until(`document.querySelector("[data-link=live]") !== null && document.querySelector(".sign-in") === null`)
	p.focus("#reply")
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"To the street."}, h.replies(id))
}

// TestEventsLeaveTheTypistAlone: whatever happens meanwhile, the text, the caret, the focus and the scroll stay.
func TestEventsLeaveTheTypistAlone(t *testing.T) {
	h, _, p := asked(t, "Move the gate", "Where to?\n"+strings.Repeat("And why?\n", 60))
	p.write("To the street, I think.")
	p.look(`(document.querySelector("#reply").setSelectionRange(3, 6), document.querySelector(".detail-pane").scrollTop = 120)`)
	state := `(({ value, selectionStart, selectionEnd }) => [value, selectionStart, selectionEnd, document.activeElement.id,
		document.querySelector(".detail-pane").scrollTop, document.querySelector(".rows").scrollTop])(document.querySelector("#reply"))`
	before := p.look(state)
	for i := range 20 {
		h.asks(fmt.Sprintf("Question %d", i), "What now?")
	}
	p.sees("21 things wait for you")
	p.until(`document.title.startsWith("(21)")`)
	require.Equal(t, before, p.look(state))
	p.button("Pause")
	h.asks("Held back", "Can you see me?")
	p.sees("paused, ")
	require.Contains(t, p.text(".rows"), "21 things wait", "a page that is paused has moved")
	p.button("Go on")
	p.sees("22 things wait for you")
}

// TestAButtonTakesAnOption: a question with options has a button for each, and a closed one has no box for other words.
func TestAButtonTakesAnOption(t *testing.T) {
	h, p := opened(t, "")
	id := h.offers("Clean up", map[string]any{
		"question": "What about the old data?", "allow_text": false, "default": "drop it",
		"options": []any{map[string]any{"label": "<b onclick=alert(1)>keep", "detail": "2 GB"}, map[string]any{"label": "drop it"}},
	})
	p.sees("What about the old data?")
	p.click(`.row a`)
	p.until(`document.querySelectorAll(".options button").length === 2`)
	require.Contains(t, p.look(`document.querySelector(".options").textContent`), "<b onclick=alert(1)>keep")
	require.Equal(t, nil, p.look(`document.querySelector("#reply")`), "other words are no answer")
	p.click(`.options button:nth-child(2)`)
	p.until(`document.querySelector(".options") === null`)
	require.Equal(t, "QUEUED", h.status(id))
	require.Equal(t, "drop it", h.call("get_task", map[string]any{"task_id": id})["task"].(map[string]any)["user_option"])
}

// TestOptionsLeaveATypedTextAlone: the buttons rest while a person types.
func TestOptionsLeaveATypedTextAlone(t *testing.T) {
	h, p := opened(t, "")
	id := h.offers("Clean up", map[string]any{"question": "What about it?", "options": []any{map[string]any{"label": "keep"}}})
	p.sees("What about it?")
	p.click(`.row a`)
	p.until(`document.querySelector(".options button")?.disabled === false`)
	p.focus("#reply")
	p.write("Move it.")
	require.Equal(t, true, p.look(`document.querySelector(".options button").disabled`))
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"Move it."}, h.replies(id))
}

// offers makes a task that waits for an answer with options.
func (h *harness) offers(description string, finish map[string]any) string {
	h.t.Helper()
	h.create(map[string]any{"prompt": "Do it: " + description, "description": description})
	id := h.claim()
	h.finish(id, "awaiting_response", finish)
	return id
}
