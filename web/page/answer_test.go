package page_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// reading opens the page at a task of the inbox, with the focus in the reply box.
func (b *browser) reading(h *harness, id string) *tab {
	b.t.Helper()
	p := b.tab()
	p.open(h.link())
	p.look(`location.hash = "#/inbox/" + ` + quoted(id))
	p.focus("#reply")
	return p
}

// asked returns a page of a harness of its own at a task that asks, with the focus in the reply box.
func asked(t *testing.T, description, question string) (h *harness, id string, p *tab) {
	t.Helper()
	t.Parallel()
	h = newHarness(t)
	id = h.asks(description, question)
	return h, id, newBrowser(t).reading(h, id)
}

// opened returns a page of a harness of its own at a place.
func opened(t *testing.T, place string) (h *harness, p *tab) {
	t.Helper()
	t.Parallel()
	h = newHarness(t)
	return h, newBrowser(t).at(h, place)
}

// asksNext has somebody else answer a task, and has the task ask something else.
func (h *harness) asksNext(id, answer, by, question string) {
	h.t.Helper()
	h.call("reply", map[string]any{"task_id": id, "reply": answer, "by": by})
	require.Equal(h.t, id, h.claim())
	h.finish(id, "awaiting_response", map[string]any{"question": question})
}

// loses carries out what comes at a path, and then the connection breaks: nobody learns what came of it.
func (h *harness) loses(at string) {
	h.instead(at, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.inner.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
}

// holds holds back what comes at a path with the words in its body, until the returned function is called; came is closed
// with the first.
func (h *harness) holds(at, words string) (came <-chan struct{}, release func()) {
	first, hold := make(chan struct{}), make(chan struct{})
	arrives := sync.OnceFunc(func() { close(first) })
	h.instead(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(string(body), words) {
			arrives()
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		h.inner.ServeHTTP(w, r)
	}))
	return first, func() {
		h.instead(at, nil)
		close(hold)
	}
}

const inTheBox = `document.querySelector("#reply").value`

// TestTypedOnWhileSendingIsNeitherSentNorLost: what is sent is what was there when Enter was pressed. What is typed
// behind it stays, is said not to have been sent, and outlives a reload. The answer whose own answer was lost is found then.
func TestTypedOnWhileSendingIsNeitherSentNorLost(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Delete the old one?")
	p.write("yes")
	came, release := h.holds("POST /api/tasks/"+id+"/reply", "")
	p.press("Enter")
	<-came
	p.write(", but delete nothing yet")
	release()
	p.sees("was taken.")
	require.Equal(t, "reply", p.look(`document.activeElement.id`), "the focus went away from somebody who types")
	for range 2 {
		p.sees("was taken. What you typed behind it was not sent and is kept.")
		require.Equal(t, "yes, but delete nothing yet", p.look(inTheBox))
		p.run(reload())
	}
	require.Equal(t, []string{"yes"}, h.replies(id))

	require.Equal(t, id, h.claim())
	second := h.asks("Move the fence", "Where to?")
	p.look(`location.hash = "#/inbox/" + ` + quoted(second))
	p.until(`document.querySelector("#reply")?.value === ""`)
	p.focus("#reply")
	p.write("To the street.")
	p.button("Pause")
	p.focus("#reply")
	h.loses("POST /api/tasks/" + second + "/reply")
	p.press("Enter")
	p.sees("waybill could not find out whether the answer arrived.")
	h.instead("POST /api/tasks/"+second+"/reply", nil)
	p.run(reload())
	p.sees("Your answer was taken.")
	p.until(`document.querySelector("#reply") === null`)
	p.lacks("Answered by")
	require.Equal(t, []string{"To the street."}, h.replies(second))
	require.Equal(t, 2, h.keys())
}

// TestFocusedReplyBoxStays: somebody else answers while the box has the focus and nothing is typed in it yet.
// What is typed then must not become commands.
func TestFocusedReplyBoxStays(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	h.call("reply", map[string]any{"task_id": id, "reply": "Nowhere.", "by": "Bob"})
	p.sees("Answered by Bob: Nowhere.")
	p.lacks("is kept")
	p.press("g")
	p.press("r")
	require.Equal(t, "reply", p.look(`document.activeElement.id`), "the box went away with the focus")
	require.Equal(t, "#/inbox/"+id, p.look(`location.hash`), "what was typed was a command")
	p.press("Tab")
	p.until(`document.querySelector("#reply") === null`)
}

// TestDiscardConfirmsAndMovesFocusToTitle: a text is not destroyed by one press, and whoever discards it is at the
// title of the task then.
func TestDiscardConfirmsAndMovesFocusToTitle(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	p.write("To the street.")
	h.call("reply", map[string]any{"task_id": id, "reply": "Nowhere."})
	p.button("Discard")
	p.button("Keep it")
	p.until(`document.querySelector("dialog") === null`)
	require.Equal(t, "To the street.", p.look(inTheBox))
	require.Equal(t, "Discard", p.look(`document.activeElement.innerText`))
	p.discard()
	p.until(`document.querySelector("#reply") === null`)
	p.until(`document.activeElement.id === "detail-title"`)
	p.run(reload())
	p.sees("Nowhere.")
	p.lacks("To the street.")
}

// TestFocusOfAButtonThatGoesIsNotLost: a button has the focus, and goes because of what it did, or of what happened.
func TestFocusOfAButtonThatGoesIsNotLost(t *testing.T) {
	h, id, p := asked(t, "Move the gate", "Where to?")
	p.write("To the street.")
	p.focus(".reply [type=submit]")
	h.asksNext(id, "Nowhere.", "Bob", "Why?")
	p.focus(".astray button")
	p.press("Enter")
	p.until(`document.querySelector(".astray") === null`)
	require.Equal(t, "reply", p.look(`document.activeElement.id`))
	p.focus(".reply [type=submit]")
	p.press("Enter")
	p.sees("Your answer was taken.")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, "detail-title", p.look(`document.activeElement.id`))
	require.Equal(t, id, h.claim())
	h.finish(id, "awaiting_response", map[string]any{"question": "Is that all?"})
	p.focus("#reply")
	p.write("Yes.")
	p.focus(".reply [type=submit]")
	h.call("reply", map[string]any{"task_id": id, "reply": "No."})
	p.until(`document.querySelector("#reply").readOnly`)
	require.Equal(t, "reply", p.look(`document.activeElement.id`))
}

// TestNextQuestionIsOffered: whoever has answered one question is led to the next, and not moved there.
func TestNextQuestionIsOffered(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first, second := h.asks("Move the gate", "Where to?"), h.asks("Name the bell", "What name?")
	p := newBrowser(t).reading(h, first)
	p.write("To the street.")
	p.press("Enter")
	p.until(`document.querySelector(".next a") !== null`)
	require.Equal(t, "Next question: Name the bell n", p.text(".next a"))
	require.Equal(t, "detail-title", p.look(`document.activeElement.id`))
	require.Equal(t, "#/inbox/"+first, p.look(`location.hash`))
	p.focus(".next a")
	p.press("Enter")
	p.sees("What name?")
	require.Equal(t, "#/inbox/"+second, p.look(`location.hash`))
	p.until(`document.activeElement.id === "detail-title" && document.activeElement.innerText === "Name the bell"`)
	p.focus("#reply")
	p.write("Ada")
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	p.sees("Your answer was taken.")
	p.until(`document.querySelector(".next a") === null`)
}

// TestReplyBoxIsAccessible goes through everything that the box can say, in both colours and on a narrow page.
func TestReplyBoxIsAccessible(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	bell := h.asks("Name the bell", "What name?")
	h.asks("Hang the door", "On which side?")
	p := newBrowser(t).reading(h, id)
	p.inspectable()
	check := func(what string) { t.Helper(); p.openToAll("answer-" + what) }
	p.write("To the street.")
	at := "POST /api/tasks/" + id + "/reply"
	h.instead(at, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	p.press("Enter")
	p.sees("waybill could not find out whether the answer arrived.")
	check("unknown")
	h.instead(at, refusal(http.StatusInsufficientStorage, schema.NewError(schema.StoreFull, "the disk is full").Hint("make room")))
	p.focus("#reply")
	p.press("Enter")
	for _, said := range []string{"the disk is full", "make room", "STORE_FULL"} {
		p.sees(said)
	}
	require.Equal(t, "To the street.", p.look(inTheBox))
	check("refused")
	h.instead(at, nil)
	h.asksNext(id, "To the hill.", "Bob", "Which hill?")
	p.sees("Answer this question instead")
	p.sees("You wrote this when it asked: Where to?")
	p.sees("Answered by Bob: To the hill.")
	check("changed")
	p.focus("#reply")
	p.press("Enter")
	p.sees("Not sent: you wrote this text for another question.")
	require.Equal(t, []string{"To the hill."}, h.replies(id))
	h.call("reply", map[string]any{"task_id": id, "reply": "That one."})
	p.until(`document.querySelector("#reply").readOnly`)
	check("late")
	p.button("Discard")
	p.until(`document.querySelector("dialog[open]") !== null`)
	check("discard")
	p.button("Discard it")
	p.look(`location.hash = "#/inbox/" + ` + quoted(bell))
	p.until(`document.querySelector("#detail-title")?.innerText === "Name the bell"`)
	p.focus("#reply")
	p.write("Ada")
	p.press("Enter")
	p.sees("Next question: Hang the door")
	check("next")
}
