package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplyContinuesTheTask: a question appears in the inbox by itself, a person answers, and the task goes on.
func TestReplyContinuesTheTask(t *testing.T) {
	h := newHouse(t)
	p := newBrowser(t).tab()
	p.open(h.link())
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
	before := h.asked("GET /api/tasks/{task_id}")
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	require.Equal(t, "QUEUED", h.status(id))
	require.Equal(t, []string{"   To the garden."}, h.replies(id))
	require.Greater(t, h.asked("GET /api/tasks/{task_id}"), before, "the status was not read again")
	p.until(`!document.title.startsWith("(")`)
	require.Equal(t, "detail-title", p.look(`document.activeElement.id`), "the focus went nowhere")
}
