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
	b := newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	p := b.tab()
	p.open(w.link())
	p.sees("Nothing waits for you.")
	require.Equal(t, "", p.look(`location.hash`), "the code is still in the address")

	id := h.asks("Move the garden gate", "Should the gate open to the street?")
	h.hears("task/awaiting_response", id)
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
