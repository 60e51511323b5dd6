package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answered returns a task with the texts as its answers.
func (h *harness) answered(texts []string) string {
	h.t.Helper()
	h.create(map[string]any{"prompt": "Ask.", "description": "Ask"})
	id := h.claim()
	for i, text := range texts {
		if i > 0 {
			require.Equal(h.t, id, h.claim())
		}
		h.finish(id, "awaiting_response", map[string]any{"output": "Half of it.", "question": "And now?"})
		h.call("reply", map[string]any{"task_id": id, "reply": text})
	}
	return id
}

const inFormattedBlocks = `[...document.querySelectorAll(".block .nodes")]`

// formatted presses the switch.
func (p *tab) formatted() {
	p.t.Helper()
	p.button("Formatted")
	p.until(`[...document.querySelectorAll("button[aria-pressed=true]")].some((b) => b.innerText === "Formatted")`)
}

// TestFaultW7_FormattedTextOfOthersLeadsOnlyToTheWeb: formatted, too, what others have written runs nowhere and asks
// nobody for anything. What can be followed leads to the web or to a mailbox, and says where.
func TestFaultW7_FormattedTextOfOthersLeadsOnlyToTheWeb(t *testing.T) {
	t.Parallel()
	texts := hostile(t)
	require.GreaterOrEqual(t, len(texts), 100)
	h := newHarness(t)
	tasks := []string{}
	const together = 50 // so many answers the page shows of a task
	for len(texts) > 0 {
		n := min(together, len(texts))
		tasks = append(tasks, h.answered(texts[:n]))
		texts = texts[n:]
		h.call("cancel_task", map[string]any{"task_id": tasks[len(tasks)-1]})
	}
	all := strings.Join(hostile(t), "\n\n")
	tasks = append(tasks, h.asks("all", "[a](https://example.invalid/a) ![b](http://example.invalid/b.png) <c@example.invalid> https://example.invalid/d\n\n"+all))

	p := newBrowser(t).guarded(h)
	p.look(`location.hash = ` + quoted("#/tasks/"+tasks[0]))
	p.formatted()
	for i, task := range tasks {
		p.look(`location.hash = ` + quoted("#/tasks/"+task))
		p.until(`document.querySelector(".detail .id code")?.innerText === ` + quoted(task))
		p.until(`document.querySelectorAll(".detail .block").length > 0 && [...document.querySelectorAll(".detail .block")].every((b) => b.querySelector(".nodes"))`)
		if i < len(tasks)-1 {
			require.InDelta(t, min(together, len(hostile(t))-i*together), p.look(`document.querySelectorAll(".replies .nodes").length`), 0, "some texts are not there")
		}
		p.harmless(task)
		require.Equal(t, []any{}, p.look(`[...document.querySelectorAll(".nodes *")].filter((e) => [...e.attributes].some((a) => /^on|^style$|^id$|^name$|src|action/i.test(a.name))).map((e) => e.outerHTML)`))
		require.Equal(t, []any{}, p.look(`[...document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")).filter((to) => !to.startsWith("#") && !/^(https?:\/\/|mailto:)/.test(to))`))
		require.Equal(t, []any{}, p.look(`[...document.querySelectorAll(".nodes a[href]")].filter((a) => a.target !== "_blank" || a.rel !== "noopener noreferrer" || !a.title || !a.querySelector(".host")).map((a) => a.outerHTML)`))
	}
	require.Equal(t, []any{"https://example.invalid/a", "http://example.invalid/b.png", "mailto:c@example.invalid", "https://example.invalid/d"},
		p.look(`[...document.querySelectorAll(".question .nodes a[href]")].slice(0, 4).map((a) => a.getAttribute("href"))`))
	shown, _ := p.look(inFormattedBlocks + `.map((b) => b.textContent).join("\n")`).(string)
	require.Contains(t, shown, "U+202E", "what hides is hidden")
	require.Contains(t, shown, "U+200B")
	require.NotRegexp(t, "[\u202a-\u202e\u2066-\u2069\u200b]", shown)
	require.Empty(t, p.foreign(h.url()), "somebody else was asked")
}

// prose is a text in which there is something of every kind.
const prose = "# The gate\n\nMove it *now*, **please**, ~~later~~: `gate.move()`.\\\nSee [the plan](https://plan.example/gate?a=b), https://plan.example and ![a picture](https://plan.example/p.png).\n\n" +
	"> Quoted\n> > twice\n\n1. one\n2. two\n   - [x] done\n   - [ ] open\n\n***\n\n| What | Where | |\n|---|---|---|\n| gate | the street | 1 |\n\n```go\nfunc main() { move(\"gate\") }\n```\n\n<b onclick=\"x\">tag</b>\n\n<div>\nlines\n</div>\n\n" +
	"[not followed](javascript:broken=1) and \u202etxt\u202c\n\n###### Last\n"

// TestFormattedTextIsAccessible: a formatted text can be read by all who can read the page, in both colours and on a
// narrow page, and everything in it can be reached with the keyboard.
func TestFormattedTextIsAccessible(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the garden gate", prose)
	p := newBrowser(t).at(h, "#/inbox/"+id)
	p.inspectable()
	p.formatted()
	p.until(`document.querySelector(".question .nodes table") !== null`)
	p.look(`document.querySelectorAll(".block").forEach((b) => (b.style.maxHeight = "none"))`) // so that all of it is looked at
	p.openToAll("formatted")
	require.Equal(t, []any{"What", "Where"}, p.look(`[...document.querySelectorAll(".nodes th")].map((e) => e.innerText)`))
}

// TestSwitchIsReachedByKeyboardAndKept: texts are as they were written until somebody wants them formatted, which a
// keyboard can say, which holds for all texts, and for as long as the tab is there.
func TestSwitchIsReachedByKeyboardAndKept(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Move it *now*?")
	h.call("queue_instruction", map[string]any{"content": "Stop **here**."})
	p := newBrowser(t).at(h, "#/inbox/"+id)
	p.until(`document.querySelector(".question .prose")?.innerText === "Move it *now*?"`)
	pressed := `[...document.querySelectorAll(".detail .choices button")].map((b) => b.innerText + " " + b.getAttribute("aria-pressed"))`
	require.Equal(t, []any{"As written true", "Formatted false"}, p.look(pressed))
	p.focus("#detail-title")
	for range 2 {
		p.press("Tab")
	}
	require.Equal(t, "Formatted", p.look(`document.activeElement.innerText`))
	p.press("Enter")
	p.until(`document.querySelector(".question .nodes em")?.innerText === "now"`)
	require.Equal(t, []any{"As written false", "Formatted true"}, p.look(pressed))
	require.Equal(t, "Formatted", p.look(`document.activeElement.innerText`), "the focus was moved")
	require.Equal(t, "Move it now?", p.text(".question .block"))

	p.look(`location.hash = "#/instructions"`)
	p.click(".row a")
	p.until(`document.querySelector(".detail .nodes strong")?.innerText === "here"`)
	p.run(reload())
	p.until(`document.querySelector(".detail .nodes strong")?.innerText === "here"`)
	p.button("As written")
	plain := `document.querySelector(".detail .prose")?.innerText === "Stop **here**."`
	p.until(plain)
	p.run(reload())
	p.until(plain)
	require.Equal(t, []any{"As written true", "Formatted false"}, p.look(pressed))
	require.Nil(t, p.look(`localStorage.getItem("waybill.formatted")`))
}

// TestWhatCannotBeFormattedStaysAsWritten: the page says why, and the text is there.
func TestWhatCannotBeFormattedStaysAsWritten(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	short := h.asks("Short", "Is it *so*?")
	tooMuch := h.asks("Much", strings.Repeat("*a*\n\n", 13000))
	tooLong := h.create(map[string]any{"prompt": strings.Repeat("*word* ", 10000)})
	p := newBrowser(t).at(h, "#/tasks/"+tooLong)
	p.formatted()
	p.sees("It has more than 64 KiB, so it is shown as it was written.")
	p.until(`document.querySelector(".block .prose").innerText.startsWith("*word* *word*")`)
	p.sees("Show more")
	p.look(`location.hash = ` + quoted("#/inbox/"+tooMuch))
	p.sees("It has too much markup, so it is shown as it was written.")

	p.look(`location.hash = ` + quoted("#/inbox/"+short))
	p.until(`document.querySelector(".question .nodes em")?.innerText === "so"`)
}
