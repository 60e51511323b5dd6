//go:build unix

package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Here a browser, a host and the program are what they are for a person: three processes.

// TestAnswerInTheBrowserReachesTheHost: an agent asks, a person answers in the page, the host hears of it at once, and
// the same task goes on with what was said.
func TestAnswerInTheBrowserReachesTheHost(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
		{"ada", "That is not an address that waybill ui prints."},
		{"http://127.0.0.1:1/#c=1", "That address belongs to another page"},
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
