package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// patience bounds every wait for something to appear. It is what a test that fails takes, and no other.
const patience = time.Minute

// chromium returns the path of the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	slow.Test(t)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("WAYBILL_BROWSER_TESTS") == "required" {
		t.Fatal(errNoBrowser)
	}
	t.Skip("needs a browser: ", errNoBrowser)
	return ""
}

// A chromiumProcess is a running chromium.
type chromiumProcess struct {
	once sync.Once
	ctx  context.Context
	err  error
	end  func() // nil if it was not started
}

// shared is the process of all tests, because a start takes seconds. The first test that needs it starts it, and
// TestMain ends it.
var shared chromiumProcess

func (c *chromiumProcess) start(path string, more ...chromedp.ExecAllocatorOption) error {
	profile, err := os.MkdirTemp("", "waybill-chromium-")
	if err != nil {
		return err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.Headless, chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", false),
		chromedp.WindowSize(1280, 800),
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, cancel := chromedp.NewContext(allocator)
	c.ctx = ctx
	c.end = func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		cancel()
		stop()
		_ = os.RemoveAll(profile)
	}
	return chromedp.Do(ctx)
}

// A browser is what one person has: its tabs share what they store with each other and with no other browser.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser returns a browser of the shared process or, with options, of a process of its own.
func newBrowser(t *testing.T, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	path := chromium(t)
	if len(more) > 0 {
		var own chromiumProcess
		err := own.start(path, more...)
		t.Cleanup(own.end)
		require.NoError(t, err)
		return &browser{t: t, ctx: own.ctx}
	}
	shared.once.Do(func() { shared.err = shared.start(path) })
	require.NoError(t, shared.err)
	ctx, cancel := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	return &browser{t: t, ctx: ctx}
}

// A tab is a page in the browser, with everything that went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex // guards what follows
	requests []string   // the addresses that were asked for
	faults   []string   // exceptions, refused policies, dialogs
	lost     []string   // what the network did not bring, and why; many tests mean it to
}

// tab opens an empty tab. At the end of the test nothing may have gone wrong in it.
func (b *browser) tab() *tab {
	b.t.Helper()
	p := &tab{t: b.t}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithListener(p.hear))
	p.ctx = ctx
	b.t.Cleanup(cancel)
	require.NoError(b.t, chromedp.Do(ctx, tell(network.Enable, network.EnableParams{}), tell(log.Enable, cdp.Empty{}), tell(runtime.Enable, cdp.Empty{})))
	b.t.Cleanup(func() { require.Empty(b.t, p.unexpected(), "the page has failed") })
	return p
}

// tell is a command of the protocol as an action.
func tell[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventLoadingFailed:
		p.lost = append(p.lost, fmt.Sprintf("%s %s: %s", e.RequestID, e.Type, e.ErrorText))
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, "exception: "+said(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.faults = append(p.faults, fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			p.faults = append(p.faults, "log: "+e.Entry.Text)
		}
	case *cdppage.EventJavascriptDialogOpening:
		p.faults = append(p.faults, "dialog: "+e.Message)
		go func() {
			_ = chromedp.Do(p.ctx, tell(cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{}))
		}() // ends with the answer
	}
}

func said(e *runtime.ExceptionDetails) string {
	if e.Exception != nil {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

func (p *tab) unexpected() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

func (p *tab) losses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lost)
}

// foreign returns the requests that went anywhere but to the server.
func (p *tab) foreign(base string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.requests), func(url string) bool {
		return strings.HasPrefix(url, base+"/") || strings.HasPrefix(url, "data:") || url == "about:blank"
	})
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, actions...))
}

// called returns the person at the tab a name, that goes with what is answered there.
func (p *tab) called(name string) {
	p.t.Helper()
	p.press("?")
	p.focus("dialog input[type=text]")
	p.look(`document.activeElement.select()`) // another tab of the browser may have given one
	p.write(name)
	p.button("Close")
	p.until(`document.querySelector("dialog") === null`)
}

// open goes to an address and waits until the page is current.
func (p *tab) open(url string) {
	p.t.Helper()
	p.run(chromedp.Navigate(url))
	p.until(`document.querySelector('[data-link=live]') !== null`)
}

// look returns the value of an expression of the page.
func (p *tab) look(expression string) any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`JSON.stringify(((e) => e === undefined ? null : e)(`+expression+`))`))
	require.NoError(p.t, err, expression)
	var value any
	require.NoError(p.t, json.Unmarshal([]byte(text), &value))
	return value
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	s, _ := p.look(`document.querySelector(` + quoted(selector) + `)?.innerText ?? null`).(string)
	return s
}

// until waits for an expression to be true, also in a page that the present one leads to. The page looks for itself,
// whenever something moved.
func (p *tab) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	watch := `new Promise((done) => { const look = () => (` + expression + `) ? done(true) : setTimeout(look, 15); look(); })`
	err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](watch, chromedp.EvalAwaitPromise))
	for err != nil && strings.Contains(err.Error(), "target navigated") { // with the page, what looked is gone
		err = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](watch, chromedp.EvalAwaitPromise))
	}
	if err != nil {
		shown, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText + "\n" + location.href`))
		require.NoError(p.t, err, "waited for %s\n%v\nlost: %v\n%s", expression, p.unexpected(), p.losses(), shown)
	}
}

// sees waits for a text to be on the page.
func (p *tab) sees(text string) {
	p.t.Helper()
	p.until(`document.body.innerText.includes(` + quoted(text) + `)`)
}

// lacks waits for a text not to be on the page.
func (p *tab) lacks(text string) {
	p.t.Helper()
	p.until(`!document.body.innerText.includes(` + quoted(text) + `)`)
}

// press presses a key by its name, wherever the focus is, and lets it go: what it types comes with the press, so
// that a page that takes the press for a command is not typed into.
func (p *tab) press(key string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.run(strike(key, modifiers...)...)
}

// strike is a key that is pressed and let go.
func strike(key string, modifiers ...chromedp.Modifier) []chromedp.Action[chromedp.Void] {
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, WindowsVirtualKeyCode: int64(codes[key])}
	switch {
	case key == "Enter":
		down.Text = "\r"
	case len(key) == 1:
		down.Text = key
	default:
		down.Type = input.DispatchKeyEventTypeRawKeyDown
	}
	for _, m := range modifiers {
		down.Modifiers |= m.Int64()
	}
	up := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key, WindowsVirtualKeyCode: down.WindowsVirtualKeyCode}
	return []chromedp.Action[chromedp.Void]{tell(input.DispatchKeyEvent, down), tell(input.DispatchKeyEvent, up)}
}

// codes are the old numbers of keys.
var codes = map[string]int{
	"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35,
	"g": 71, "i": 73, "j": 74, "k": 75, "n": 78, "p": 80, "r": 82, "t": 84, ".": 190, "/": 191, "?": 191,
}

// write puts text where the focus is, as a keyboard does.
func (p *tab) write(text string) {
	p.t.Helper()
	p.run(tell(input.InsertText, input.InsertTextParams{Text: text}))
}

func (p *tab) focus(selector string) {
	p.t.Helper()
	p.until(`document.querySelector(` + quoted(selector) + `) !== null`)
	p.look(`document.querySelector(` + quoted(selector) + `).focus()`)
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.until(`document.querySelector(` + quoted(selector) + `) !== null`)
	p.look(`document.querySelector(` + quoted(selector) + `).click()`)
}

// button presses the button with this label, in the moment in which it is there.
func (p *tab) button(label string) {
	p.t.Helper()
	p.until(pressed(label))
}

// pressed is an expression that presses the last button with this label, and is false without one.
func pressed(label string) string {
	return `((b) => b !== undefined && (b.focus(), b.click(), true))([...document.querySelectorAll('button')].filter((b) => b.innerText.trim() === ` + quoted(label) + `).at(-1))`
}

// confirm presses a button that asks first, and the button of that name in the question.
func (p *tab) confirm(label string) {
	p.t.Helper()
	p.button(label)
	p.until(`document.querySelector("dialog") !== null`)
	p.button(label)
}

// discard throws away the text of the reply box.
func (p *tab) discard() {
	p.t.Helper()
	p.button("Discard")
	p.button("Discard it")
}

// size sets the size of the window.
func (p *tab) size(width, height int64) {
	p.t.Helper()
	p.run(chromedp.EmulateViewport(width, height))
}

// picture writes what can be seen into a file of the folder that WAYBILL_SHOTS names, if it names one.
func (p *tab) picture(name string) {
	p.t.Helper()
	folder := os.Getenv("WAYBILL_SHOTS")
	if folder == "" {
		return
	}
	require.NoError(p.t, os.MkdirAll(folder, 0o755))
	require.NoError(p.t, os.WriteFile(filepath.Join(folder, name+".png"), p.shot(), 0o644))
}

// shot returns a picture of what can be seen.
func (p *tab) shot() []byte {
	p.t.Helper()
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	return shot
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(text)
}

func reload() chromedp.Action[chromedp.Void] { return chromedp.Reload() }

// prefer makes the system of the browser prefer something.
func (p *tab) prefer(feature, value string) {
	p.t.Helper()
	p.run(tell(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}}))
}
