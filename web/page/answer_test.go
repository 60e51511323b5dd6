package page_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
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

// holds holds back whatever comes at a path, until the returned function is called; came is closed with the first.
func (h *harness) holds(at string) (came <-chan struct{}, release func()) {
	first, hold := make(chan struct{}, 1), make(chan struct{})
	h.instead(at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case first <- struct{}{}:
		default:
		}
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		h.inner.ServeHTTP(w, r)
	}))
	return first, func() {
		h.instead(at, nil)
		close(hold)
	}
}

const inTheBox = `document.querySelector("#reply").value`

// TestTypedOnWhileSendingIsNeitherSentNorLost: what is sent is what was there when Enter was pressed, however long it
// takes. What is typed behind it stays, and is said not to have been sent.
func TestTypedOnWhileSendingIsNeitherSentNorLost(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for name, at := range map[string]string{"while it asks": "GET /api/tasks/", "while it sends": "POST /api/tasks/"} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			id := h.asks("Move the gate", "Delete the old one?")
			p := b.reading(h, id)
			p.write("yes")
			if at += id; at[0] == 'P' {
				at += "/reply"
			}
			came, release := h.holds(at)
			p.press("Enter")
			<-came
			p.write(", but delete nothing yet")
			release()
			p.sees("was taken. What you typed behind it was not sent and is kept.")
			require.Equal(t, []string{"yes"}, h.replies(id))
			require.Equal(t, "yes, but delete nothing yet", p.look(inTheBox))
			require.Equal(t, "reply", p.look(`document.activeElement.id`), "the focus went away from somebody who types")
			p.run(reload())
			p.sees("was taken. What you typed behind it was not sent and is kept.")
			require.Equal(t, "yes, but delete nothing yet", p.look(inTheBox), "a reload has lost it")
		})
	}
}

// TestDraftOfAnOlderQuestionIsNotSentToANewOne: a text was written, and left; somebody else answered, and the task asks
// something else. The text is not sent before the person has said that it is for this question.
func TestDraftOfAnOlderQuestionIsNotSentToANewOne(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Delete the old database?")
	p := newBrowser(t).reading(h, id)
	p.write("yes")
	p.look(`location.hash = "#/status"`)
	p.sees("This process")
	h.asksNext(id, "no", "Bob", "Delete the new database?")
	p.look(`location.hash = "#/inbox/" + ` + quoted(id))
	p.sees("You wrote this when it asked: Delete the old database?")
	p.sees("Answered by Bob: no")
	p.focus("#reply")
	p.press("Enter")
	p.sees("Not sent: you wrote this text for another question.")
	p.write("!")
	p.press("Enter")
	require.Equal(t, 0, h.keys(), "it was sent to a question that it was not written for")
	p.button("Answer this question instead")
	p.until(`document.activeElement.id === "reply"`)
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"no", "yes!"}, h.replies(id))
}

// TestAnswerThatArrivedIsNotSaidToHaveBeenLost: the answer was taken, and the connection broke before that was said.
// The page finds it among the answers of the task, also after it was loaded again, or by sending it again.
func TestAnswerThatArrivedIsNotSaidToHaveBeenLost(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for name, then := range map[string]func(p *tab){
		"and is found":                nil,
		"and is found after a reload": func(p *tab) { p.run(reload()) },
		"and is sent again":           func(p *tab) { p.press("Enter") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			id := h.asks("Move the gate", "Where to?")
			p := b.reading(h, id)
			p.write("To the street.")
			if then != nil {
				p.button("Pause")
				p.focus("#reply")
			}
			h.loses("POST /api/tasks/" + id + "/reply")
			p.press("Enter")
			if then != nil {
				p.sees("waybill could not find out whether the answer arrived.")
				h.instead("POST /api/tasks/"+id+"/reply", nil)
				then(p)
			}
			p.sees("Your answer was taken.")
			p.until(`document.querySelector("#reply") === null`)
			p.lacks("Answered by")
			p.lacks("not sent")
			require.Equal(t, []string{"To the street."}, h.replies(id))
			require.Equal(t, 1, h.keys())
		})
	}
}

// TestSameWordToTheNextQuestionIsAnotherAnswer: the first was taken, and nobody learned of it; the task goes on and
// asks again, and is given the same word.
func TestSameWordToTheNextQuestionIsAnotherAnswer(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Go on?")
	p := newBrowser(t).reading(h, id)
	at := "POST /api/tasks/" + id + "/reply"
	p.write("yes")
	h.loses(at)
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	h.instead(at, nil)
	require.Equal(t, id, h.claim())
	h.finish(id, "awaiting_response", map[string]any{"question": "And now, go on?"})
	p.sees("And now, go on?")
	p.focus("#reply")
	require.Equal(t, "", p.look(inTheBox))
	p.write("yes")
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, []string{"yes", "yes"}, h.replies(id))
	require.Equal(t, 2, h.keys())
}

// TestFocusedReplyBoxStays: somebody else answers while the box has the focus and nothing is typed in it yet.
// What is typed then must not become commands.
func TestFocusedReplyBoxStays(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	p := newBrowser(t).reading(h, id)
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
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	p := newBrowser(t).reading(h, id)
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
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	p := newBrowser(t).reading(h, id)
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
	require.Equal(t, "Next question: Name the bell", p.text(".next a"))
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
	h.instead(at, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInsufficientStorage)
		_, _ = w.Write([]byte(`{"error":{"message":"the disk is full","data":{"code":"STORE_FULL","outcome":"not_applied","hint":"make room"}}}`))
	}))
	p.focus("#reply")
	p.press("Enter")
	p.sees("the disk is full")
	check("refused")
	h.instead(at, nil)
	h.asksNext(id, "To the hill.", "Bob", "Which hill?")
	p.sees("Answer this question instead")
	check("changed")
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
