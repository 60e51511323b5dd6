package page_test

import (
	"net/http"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"

	"waybill/schema"
)

// TestNewTabDoesNotWaitForAnOldOne: of all tabs one connects for all of them. While waybill was away for long, that one
// tries but every half minute. Whoever opens another tab, because waybill is back, does not wait so long.
func TestNewTabDoesNotWaitForAnOldOne(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	b := newBrowser(t)
	old := b.tab()
	// Half a minute is never over in this tab; it notes that it waits so long. A stream is given up after more.
	old.run(tell(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{
		Source: `{ const real = setTimeout; globalThis.setTimeout = (then, ms) => (ms < 10000 ? real(then, ms) : ((globalThis.waits ||= ms < 40000), 0)); }`,
	}))
	old.open(h.link())
	busy := schema.NewError(schema.Overloaded, "come later")
	busy.Data.RetryAfterMS = 600_000
	h.instead("GET /api/events", refusal(http.StatusTooManyRequests, busy))
	address := strings.TrimPrefix(h.url(), "http://")
	h.shut()
	h.open(address)
	old.until(`window.waits === true`)
	h.instead("GET /api/events", nil)
	other := b.tab()
	other.open(h.link())
	old.until(`document.querySelector("[data-link=live]") !== null`)
}
