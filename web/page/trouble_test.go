package page_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestCommandToCopyAsksForWhatIsShown: what a person takes to a terminal gives there what the page has.
func TestCommandToCopyAsksForWhatIsShown(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	p := newBrowser(t).at(h, "#/inbox/"+id)
	p.sees("Raw JSON")
	p.look(`document.querySelector("details.raw").open = true`)
	p.until(`document.querySelector(".raw .curl code") !== null`)
	parts := regexp.MustCompile(`^curl -H "(Authorization): (Bearer )\$token" '([^']*)'$`).FindStringSubmatch(p.text(".raw .curl code"))
	require.NotNil(t, parts, p.text(".raw .curl code"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, parts[3], nil)
	require.NoError(t, err)
	r.Header.Set(parts[1], parts[2]+h.token)
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.JSONEq(t, p.text(".raw pre"), string(body))
	p.inspectable()
	p.openToAll("raw")
}

// TestErrorStatesAreAccessible: what is said when something is not as it should be is there for everybody.
func TestErrorStatesAreAccessible(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.asks("Move the gate", "Where to?")
	h.instead("GET /api/events", busy("32 streams are open"))
	p := newBrowser(t).tab()
	p.run(chromedp.Navigate(h.link()))
	p.inspectable()
	p.sees("32 streams are open")
	p.lacks("not there any more")
	p.openToAll("stream refused")
	h.instead("GET /api/events", nil)
	live := `document.querySelector("[data-link=live]") !== null`
	p.until(live + ` || ` + pressed("Try again")) // the page tries again by itself, too
	p.until(live)
	p.lacks("32 streams are open")

	status := h.call("get_status", nil)
	status["degraded"] = []string{"the watcher polls"}
	status["attention"] = []map[string]any{{"kind": "fault", "text": "the watcher polls", "count": 1, "ids": []string{}}}
	h.instead("GET /api/status", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusOK, status) }))
	h.asks("Name the bell", "How is it called?")
	p.sees("not as it should be")
	p.openToAll("degraded")

	h.instead("GET /api/plans", busy("the disk hangs"))
	p.look(`location.hash = "#/plans"`)
	p.sees("the disk hangs")
	p.openToAll("list in trouble")
	h.instead("GET /api/plans", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<h1>502</h1>"))
	}))
	p.button("Try again")
	p.sees("waybill does not answer")
	h.instead("GET /api/plans", nil)
	p.button("Try again")
	p.sees("There is no plan here.")
	p.look(`location.hash = "#/tasks/tsk_none"`)
	p.sees("TASK_NOT_FOUND")
	h.instead("GET /api/tasks/"+id, busy("the store is busy"))
	p.look(`location.hash = "#/inbox/" + ` + quoted(id))
	p.sees("the store is busy")
	p.openToAll("thing in trouble")
	h.instead("GET /api/tasks/"+id, nil)
	p.button("Try again")
	p.button("Cancel the task")
	p.until(`document.querySelector("dialog[open]") !== null`)
	p.openToAll("question before an action")
	p.button("Leave it")
	p.button("Pause")
	p.until(`document.querySelector("[data-link=paused]") !== null`)
	h.shut()
	p.until(`document.querySelector(".link").innerText.includes("paused, reconnecting")`)
}
