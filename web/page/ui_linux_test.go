package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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

// TestPageOfARunningHostIsOnlyShown: where a host serves the page, the command prints an address for one browser and
// ends. The host stays, and where it is stays written down.
func TestPageOfARunningHostIsOnlyShown(t *testing.T) {
	w := newYard(t)
	h := w.serve("")
	plate := w.doorplate()
	first, second := w.says("ui"), w.says("ui", "--json")
	require.Regexp(t, `^`+plate.URL+`/#c=[0-9a-f]{64}$`, first)
	require.Regexp(t, `^\{"url":"`+plate.URL+`/#c=[0-9a-f]{64}"\}$`, second)
	require.NotContains(t, first+second, plate.Token)
	require.Equal(t, plate, w.doorplate())
	require.Equal(t, true, h.call("ping", nil)["pong"])
}

// TestBrowserThatCannotBeStartedIsSaid: the program of the system is given the address, and if it fails, the person
// is told to open it.
func TestBrowserThatCannotBeStartedIsSaid(t *testing.T) {
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
			bin := t.TempDir()
			given := filepath.Join(bin, "given")
			script := fmt.Sprintf("#!/bin/sh\necho \"$@\" > '%s'\nexit %d\n", given, c.fails)
			require.NoError(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700))
			cmd := w.command("ui")
			cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+bin)
			ui := w.start(cmd)
			link := string(ui.line())
			require.Zero(t, ui.end())
			text, err := os.ReadFile(given)
			require.NoError(t, err)
			require.Equal(t, link, string(text))
			require.Contains(t, ui.errs.String(), c.said)
			require.Equal(t, c.said == "", ui.errs.Len() == 0, "%s", ui.errs)
		})
	}
}

// TestNoPlaceForAPageIsSaid: without a workspace, or with a store that is not there, it is said what is missing and
// what to do. Nothing is made.
func TestNoPlaceForAPageIsSaid(t *testing.T) {
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
