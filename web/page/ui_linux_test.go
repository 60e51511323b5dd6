package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// interrupted ends the program as Ctrl-C does. It has to end by itself, with success.
func (p *process) interrupted() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGINT))
	require.Zero(p.t, p.end(), "%s", p.errs)
}

// TestPageAloneOnTheStore: no host is there, and a question of before is. The page is served all the same, and Ctrl-C
// ends it, also while the page is open. A host that comes meanwhile, and has no door of its own, hears of the answer.
func TestPageAloneOnTheStore(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	id := h.asks("Move the gate", "Where to?")
	require.NoError(t, h.in.Close())
	require.Zero(t, h.end())

	ui := w.start(w.command("ui"))
	link := strings.TrimSpace(string(ui.line()))
	p := b.tab()
	p.open(link)
	p.sees("Where to?")
	beside := w.host()
	p.look(`location.hash = "#/inbox/" + ` + quoted(id))
	p.focus("#reply")
	p.write("To the street.")
	p.press("Enter")
	p.until(`document.querySelector("#reply") === null`)
	beside.hears("task/updated", id, `"QUEUED"`)
	c := beside.claims()
	require.Equal(t, id, c.task)
	require.Contains(t, c.prompt, "[User Reply]\nTo the street.\n\n[Continue Task]\n")
	plate := w.doorplate()
	require.Equal(t, ui.cmd.Process.Pid, plate.PID)
	require.True(t, strings.HasPrefix(link, plate.URL+"/#c="), link)

	other := b.tab()
	other.open(w.link()) // whoever calls again is let in at the same place
	other.sees("Nothing waits for you.")
	require.Equal(t, plate, w.doorplate())

	ui.interrupted()
	require.NoFileExists(t, plate.path)
	require.Contains(t, ui.errs.String(), "there is no display; open the address in a browser on this machine")
	require.Contains(t, ui.errs.String(), "until it is interrupted (Ctrl-C)")
	p.until(`document.querySelector("[data-link=reconnecting], [data-link=gone]") !== null`)
}

// opens calls for the page where there is a display. It returns the address that was printed, and what the program was
// given that opens a browser, which ends with a code.
func (w *yard) opens(code int) (ui *process, link, given string) {
	w.t.Helper()
	bin := w.t.TempDir()
	note := filepath.Join(bin, "given")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" > '%s'\nexit %d\n", note, code)
	// The child of another test that forks now would keep the script open, and what is open for writing cannot be started.
	syscall.ForkLock.RLock()
	err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(w.t, err)
	cmd := w.command("ui")
	cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+bin)
	ui = w.start(cmd)
	link = strings.TrimSpace(string(ui.line()))
	require.Zero(w.t, ui.end())
	text, err := os.ReadFile(note)
	require.NoError(w.t, err)
	return ui, link, strings.TrimSpace(string(text))
}

// TestFaultW5_FileLeadsTheBrowserIn: a browser that is started with what everybody can see, and that only its user can
// follow, is let in, and has the code neither in its address nor behind it.
func TestFaultW5_FileLeadsTheBrowserIn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	w := newYard(t)
	w.serve("")
	plate := w.doorplate()
	_, link, given := w.opens(0)
	require.NotContains(t, given, link[len(link)-64:])
	p := b.tab()
	p.run(chromedp.Navigate(given))
	require.Eventually(t, func() bool { // before that, the browser may be between the file and the page
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Contains(p.requests, plate.URL+"/page.js")
	}, patience, 10*time.Millisecond)
	p.until(`document.querySelector("[data-link=live]") !== null`)
	require.Equal(t, plate.URL+"/", p.look(`location.href`))
	require.NotEqual(t, plate.Token, p.look(`sessionStorage.getItem("waybill.token")`))
	require.Equal(t, "", p.look(`document.referrer`))
}

// TestBrowserThatCannotBeStartedIsSaid: the program of the system is given a file that leads to the address, and if it
// fails, the person is told to open that.
func TestBrowserThatCannotBeStartedIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails int
		said  string
	}{
		"it starts": {0, ""},
		"it fails":  {3, "no browser could be started: exit status 3; open the address yourself"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newYard(t)
			w.serve("")
			ui, link, given := w.opens(c.fails)
			path, found := strings.CutPrefix(given, "file://")
			require.True(t, found, given)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, string(text), `;url=`+link+`"`)
			require.Contains(t, ui.errs.String(), c.said)
			require.Equal(t, c.said == "", ui.errs.Len() == 0, "%s", ui.errs)
		})
	}
}

// TestNoPlaceForAPageIsSaid: without a workspace, or with a store that is not there, it is said what is missing and
// what to do. Nothing is made.
func TestNoPlaceForAPageIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		said string
	}{
		"no workspace": {[]string{"ui"}, 1, "waybill: no workspace: "},
		"no store":     {[]string{"ui", "--store", "none.db"}, 3, "waybill: there is no store at "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newYard(t)
			w.workspace = t.TempDir()
			ui := w.start(w.command(c.args...))
			require.Equal(t, c.code, ui.end())
			require.Contains(t, ui.errs.String(), c.said)
			for _, folder := range []string{w.workspace, w.state} {
				made, err := os.ReadDir(folder)
				require.NoError(t, err)
				require.Empty(t, made)
			}
		})
	}
}
