package bench

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience bounds every wait for a page. It is what a benchmark that fails takes, and no other.
const patience = time.Minute

// A screen is one tab of a Chromium without a window, and with a profile of its own.
type screen struct {
	b   *testing.B
	ctx context.Context
}

// newScreen starts a browser that ends with the benchmark, or skips the benchmark where there is none.
func newScreen(b *testing.B) *screen {
	b.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		b.Skip("needs Chromium: none of chromium, chromium-browser, google-chrome and headless-shell is in the PATH")
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(b.TempDir()), chromedp.Headless, chromedp.NoFirstRun, chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 800))
	ctx, cancel := chromedp.NewContext(allocator)
	b.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		cancel()
		stop()
	})
	require.NoError(b, chromedp.Do(ctx))
	return &screen{b, ctx}
}

// do carries out actions, one after the other.
func (s *screen) do(actions ...chromedp.Action[chromedp.Void]) {
	s.b.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	require.NoError(s.b, chromedp.Do(ctx, actions...))
}

// tell is a command of the protocol as an action.
func tell[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

// look returns what a promise of the page comes to.
func look[V any](s *screen, promise string) V {
	s.b.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[V](promise, chromedp.EvalAwaitPromise))
	require.NoError(s.b, err, promise)
	return value
}

// until waits for an expression of the page to be true, and returns it time between its looks.
func (s *screen) until(expression string) {
	s.b.Helper()
	look[bool](s, `new Promise((done) => { const look = () => (`+expression+`) ? done(true) : setTimeout(look, 15); look(); })`)
}

// enter presses the key, where the focus is.
func (s *screen) enter() {
	s.b.Helper()
	s.do(tell(input.DispatchKeyEvent, input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Text: "\r", WindowsVirtualKeyCode: 13,
	}))
}

// timePaints makes every page from now on note in painted when its first row was painted, in ms since its
// navigation began.
func (s *screen) timePaints() {
	s.b.Helper()
	s.first(`new MutationObserver((_, observer) => {
		if (document.querySelector(".row") === null) return;
		observer.disconnect();
		requestAnimationFrame(() => setTimeout(() => (globalThis.painted = performance.now())));
	}).observe(document, { childList: true, subtree: true });`)
}

// first makes every page from now on run a script before its own.
func (s *screen) first(script string) {
	s.b.Helper()
	s.do(tell(cdppage.Enable, cdppage.EnableParams{}),
		tell(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}))
}

// paint goes to a page and gives after how many ms anything was painted, and the first row.
func (s *screen) paint(url string) (anything, row float64) {
	s.b.Helper()
	s.do(chromedp.Navigate(url))
	s.until(`globalThis.painted !== undefined && performance.getEntriesByName("first-contentful-paint").length > 0`)
	return look[float64](s, `performance.getEntriesByName("first-contentful-paint")[0].startTime`), look[float64](s, `painted`)
}

// worked returns for how long the page has had work to do, in ms.
func (s *screen) worked() float64 {
	s.b.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	got, err := chromedp.Run(ctx, func(ctx context.Context, target *chromedp.Target) (performance.GetMetricsResult, error) {
		return cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
	})
	require.NoError(s.b, err)
	for _, metric := range got.Metrics {
		if metric.Name == "TaskDuration" {
			return metric.Value * 1000
		}
	}
	s.b.Fatal("the browser does not tell how long its tasks took")
	return 0
}

// quoted writes a string as JavaScript has it.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(text)
}
