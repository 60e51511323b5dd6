//go:build unix

package page_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Here a browser, a host and the program are what they are for a person: three processes.

// TestAnswerInTheBrowserReachesTheHost: an agent asks, a person answers in the page, the host hears of it at once, and
// the same task goes on with what was said.
func TestAnswerInTheBrowserReachesTheHost(t *testing.T) {
	b := newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	p := b.tab()
	p.open(w.link())
	p.sees("Nothing waits for you.")
	require.Equal(t, "", p.look(`location.hash`), "the code is still in the address")

	id := h.asks("Move the garden gate", "Should the gate open to the street?")
	p.sees("Should the gate open to the street?")
	p.click(`.row a`)
	p.sees("So far: half of it.")
	p.focus("#reply")
	p.write("To the garden.")
	p.press("Enter")
	h.hears("task/updated", id, `"QUEUED"`)
	c := h.claims()
	require.Equal(t, id, c.task)
	require.Contains(t, c.prompt, "[Previous Output]\nSo far: half of it.\n\nShould the gate open to the street?\n\n[User Reply]\nTo the garden.\n\n[Continue Task]\n")
	p.until(`document.querySelector(".under .state").innerText.includes("running")`)
	h.finish(c, "completed", map[string]any{"output": "The gate opens to the garden."})
	p.until(`document.querySelector(".under .state").innerText.includes("complete")`)
	p.sees("The gate opens to the garden.")
	require.Empty(t, p.foreign(w.doorplate().URL))
	require.NoError(t, h.in.Close())
	require.Zero(t, h.end())
}

// TestRestartKeepsTheDraftAndLetsItIn: the program is killed while somebody types, and comes back at the same address
// with another token. Nothing moves under the hands that type; the page says that it has to be let in again, and is,
// with its draft, by a new address put into the page or where the old one was. The answer arrives once.
func TestRestartKeepsTheDraftAndLetsItIn(t *testing.T) {
	b := newBrowser(t)
	w := newYard(t)
	address := steadyAddress(t)
	first := w.serve(address)
	gate, bell := first.asks("Move the gate", "Where to?"), first.asks("Name the bell", "How is it called?")
	ada, bob := b.tab(), b.tab()
	for p, id := range map[*tab]string{ada: gate, bob: bell} {
		p.open(w.link())
		p.look(`location.hash = "#/inbox/" + ` + quoted(id))
		p.focus("#reply")
	}
	ada.write("To the street.")
	bob.write("Clara")

	require.NoError(t, first.cmd.Process.Kill())
	require.Equal(t, -1, first.end())
	for _, p := range []*tab{ada, bob} {
		p.until(`document.querySelector("[data-link=reconnecting], [data-link=gone]") !== null`)
	}
	ada.write(" At once.")
	second := w.serve(address)
	ada.sees("This page is not signed in")
	ada.until(`document.querySelector("[data-link=out]") !== null`)
	require.Equal(t, "reply", ada.look(`document.activeElement.id`), "the restart took the focus")
	ada.write(" Or later.")
	const typed = "To the street. At once. Or later."
	require.Equal(t, typed, ada.look(`document.querySelector("#reply").value`))
	ada.press("Enter")
	ada.sees("UNAUTHORIZED")
	given, _ := second.answers(gate)
	require.Empty(t, given, "it was taken from somebody who was not let in")

	spent := w.link()
	ada.focus(".sign-in input")
	for _, wrong := range []struct{ line, said string }{
		{"ada", "That is no address that waybill ui prints."},
		{"http://127.0.0.1:1/#c=1", "That address leads elsewhere"},
		{spent + "0", "the code is not known"},
	} {
		ada.look(`document.querySelector(".sign-in input").select()`)
		ada.write(wrong.line)
		ada.press("Enter")
		ada.sees(wrong.said)
	}
	bob.until(`document.querySelector("[data-link=out]") !== null`)
	ada.look(`document.querySelector(".sign-in input").select()`)
	ada.write(spent)
	ada.press("Enter")
	ada.until(`document.querySelector("[data-link=live]") !== null && document.querySelector(".sign-in") === null`)
	require.Equal(t, typed, ada.look(`document.querySelector("#reply").value`), "the draft is lost")
	require.Equal(t, "out", bob.look(`document.querySelector("[data-link]").dataset.link`), "a tab was let in with the code of another")

	bob.run(navigate(w.link()))
	bob.until(`document.querySelector("[data-link=live]") !== null && document.querySelector(".sign-in") === null`)
	require.Equal(t, "#/inbox/"+bell, bob.look(`location.hash`), "what was looked at is lost, or the code is still in the address")

	for p, task := range map[*tab]struct{ id, text string }{ada: {gate, typed}, bob: {bell, "Clara"}} {
		p.focus("#reply")
		p.press("Enter")
		second.hears("task/updated", task.id, `"QUEUED"`)
		p.until(`document.querySelector("#reply") === null`)
		given, status := second.answers(task.id)
		require.Equal(t, []answer{{reply: task.text}}, given)
		require.Equal(t, "QUEUED", status)
	}
}

// TestComposedAnswerReachesTheHost: an answer that is composed with an input method arrives as it was chosen, and only
// when it is sent.
func TestComposedAnswerReachesTheHost(t *testing.T) {
	b := newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	id := h.asks("Name the bell", "鐘の名前は？")
	p := b.tab()
	p.open(w.link())
	p.look(`location.hash = "#/inbox/" + ` + quoted(id))
	p.focus("#reply")
	composing := func(text string, at int64) chromedp.Action[chromedp.Void] {
		return tell(input.ImeSetComposition, input.ImeSetCompositionParams{Text: text, SelectionStart: at, SelectionEnd: at})
	}
	p.run(composing("か", 1), composing("かね", 2))
	// What a browser gives a page for Enter in the middle of composing.
	p.run(tell(input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Enter", WindowsVirtualKeyCode: 229}))
	require.Equal(t, "かね", p.look(`document.querySelector("#reply").value`))
	given, status := h.answers(id)
	require.Empty(t, given, "Enter has sent what was being composed")
	require.Equal(t, "AWAITING_RESPONSE", status)
	p.write("鐘")
	p.press("Enter")
	h.hears("task/updated", id, `"QUEUED"`)
	require.Contains(t, h.claims().prompt, "[User Reply]\n鐘\n\n[Continue Task]\n")
}

// TestOfAllWhoAnswerAtOnceOneWins: three people press Enter at once, two of them in tabs of one browser. One answer is
// taken; each of the others is told whose, and keeps the text.
func TestOfAllWhoAnswerAtOnceOneWins(t *testing.T) {
	one, other := newBrowser(t), newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	people := map[string]*tab{"Ada": one.tab(), "Bob": one.tab(), "Eve": other.tab()}
	for name, p := range people {
		p.open(w.link())
		p.called(name)
	}
	for round := range 2 {
		id := h.asks(fmt.Sprintf("Gate %d", round), "Where to?")
		for name, p := range people {
			p.look(`location.hash = "#/inbox/" + ` + quoted(id))
			p.sees(fmt.Sprintf("Gate %d", round))
			p.focus("#reply")
			p.write("Where " + name + " lives.")
		}
		atOnce(t, people)
		h.hears("task/updated", id, `"QUEUED"`)
		given, status := h.answers(id)
		require.Equal(t, "QUEUED", status)
		require.Len(t, given, 1)
		winner := given[0]
		require.Equal(t, "Where "+winner.by+" lives.", winner.reply)
		for name, p := range people {
			if name == winner.by {
				p.until(`document.querySelector("#reply") === null`)
				continue
			}
			p.sees("Answered by " + winner.by + ": ")
			p.sees(winner.reply)
			require.Equal(t, "Where "+name+" lives.", p.look(`document.querySelector("#reply").value`), "the draft of %s is lost", name)
			p.button("Discard")
			p.button("Discard it")
			p.until(`document.querySelector("#reply") === null`)
		}
		again, _ := h.answers(id)
		require.Equal(t, given, again, "a second answer was taken")
		h.finish(h.claims(), "completed", nil)
	}
}

// TestFaultW14_SevenTabsOfARealHost: a browser holds six connections to one server, so with a stream for each tab the
// seventh would wait for ever.
func TestFaultW14_SevenTabsOfARealHost(t *testing.T) {
	b := newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	var tabs []*tab
	for range 7 {
		p := b.tab()
		p.open(w.link())
		tabs = append(tabs, p)
	}
	require.Equal(t, 1, w.doorplate().metric(t, "waybill_http_streams"))
	h.asks("Move the gate", "Where to?")
	for _, p := range tabs {
		p.sees("Where to?")
	}
}

// atOnce presses Enter in all the tabs at once.
func atOnce(t *testing.T, people map[string]*tab) {
	t.Helper()
	ready, pressed := make(chan struct{}), make(chan error, len(people))
	for _, p := range people {
		go func() { // ends with the press, or after patience
			<-ready
			ctx, cancel := context.WithTimeout(p.ctx, patience)
			defer cancel()
			pressed <- chromedp.Do(ctx, strike("Enter")...)
		}()
	}
	close(ready)
	for range people {
		require.NoError(t, <-pressed)
	}
}
