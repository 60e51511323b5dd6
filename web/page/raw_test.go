package page_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommandToCopyAsksForWhatIsShown: what a person takes to a terminal gives there what the page has.
func TestCommandToCopyAsksForWhatIsShown(t *testing.T) {
	h := newHouse(t)
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
	p.accessible("raw")
}
