//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A standIn is a program in place of the one that opens a browser. It says what it was started with, and goes on until
// it is told a word, which it repeats.
type standIn struct {
	t         *testing.T
	folder    string
	says, ear *os.File
	lines     *bufio.Reader
}

// newStandIn makes one, which ui will find.
func newStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{t: t, folder: t.TempDir()}
	for _, name := range []string{"says", "ear"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(s.folder, name), 0o600))
	}
	script := fmt.Sprintf("#!/bin/sh\nexec >'%s/says' <'%s/ear'\necho \"$*\"\nread word\necho \"$word\"\n", s.folder, s.folder)
	for _, name := range []string{"xdg-open", "open"} {
		writeProgram(t, filepath.Join(s.folder, name), script)
	}
	return s
}

// start starts ui at a terminal of its own, with a display, and returns what the browser was started with.
func (s *standIn) start(cmd *exec.Cmd) (argument string) {
	s.t.Helper()
	cmd.Env = append(cmd.Env, "DISPLAY=:0", "PATH="+s.folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that this test is not interrupted, too
	require.NoError(s.t, cmd.Start())
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var err error
	s.says, err = os.Open(filepath.Join(s.folder, "says")) // waits until it is there
	require.NoError(s.t, err)
	s.ear, err = os.OpenFile(filepath.Join(s.folder, "ear"), os.O_WRONLY, 0)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _, _ = s.says.Close(), s.ear.Close() })
	s.lines = bufio.NewReader(s.says)
	return s.line()
}

func (s *standIn) line() string {
	s.t.Helper()
	line, err := s.lines.ReadString('\n')
	require.NoError(s.t, err, "it has ended")
	return strings.TrimSuffix(line, "\n")
}

// TestInterruptLeavesTheBrowser: Ctrl-C reaches all programs of a terminal. The browser that ui has started is not one
// of them.
func TestInterruptLeavesTheBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command(t, "ui")
	var said bytes.Buffer
	cmd.Stderr = &said
	s := newStandIn(t)
	s.start(cmd)
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	require.NoError(t, cmd.Wait(), "%s", &said)
	_, err := s.ear.WriteString("still here\n")
	require.NoError(t, err)
	require.Equal(t, "still here", s.line())
}

// TestFrontDoorsOfOneWorkspace: of two processes either may leave first, politely or not. http.json names one that is
// there, and ui finds it.
func TestFrontDoorsOfOneWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := func() (*peer, *caller) {
		p := w.serve(t, "--http")
		p.must("get_status", "{}", nil)
		c := w.portFile(t)
		require.Equal(t, p.cmd.Process.Pid, c.PID, "the last one is named")
		return p, c
	}
	leave := func(p *peer) {
		require.NoError(t, p.in.Close())
		require.Zero(t, p.end())
	}
	found := func() string {
		out, err := w.command(t, "ui", "--no-browser").Output()
		require.NoError(t, err)
		address, _, _ := strings.Cut(string(out), "/#c=")
		return address
	}
	first, firsts := open()
	second, seconds := open()
	require.Equal(t, seconds.URL, found())
	leave(second)
	require.Equal(t, firsts.URL, w.portFile(t).URL, "the first is still there")
	w.portFile(t).ask(200, "GET", "/api/status", "", nil)
	require.Equal(t, firsts.URL, found())

	third, thirds := open()
	leave(first)
	require.Equal(t, thirds.URL, w.portFile(t).URL)
	fourth, fourths := open()
	require.NoError(t, fourth.cmd.Process.Kill())
	fourth.end()
	stale := filepath.Join(filepath.Dir(fourths.path), fmt.Sprintf("http-%d.json", fourths.PID))
	require.FileExists(t, stale)
	require.FileExists(t, fourths.path)
	fifth, fifths := open()
	require.NotEqual(t, fourths.Token, fifths.Token, "the file of a killed one is replaced")
	leave(fifth)
	require.Equal(t, thirds.URL, found(), "a killed one is passed over")
	require.NoFileExists(t, stale)
	leave(third)
	for _, pattern := range []string{"http*", "waybill-*"} {
		left, err := filepath.Glob(filepath.Join(filepath.Dir(fourths.path), pattern))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestPageOfAnotherStoreIsNotThatOfTheHost: whoever asked for the page of a store was shown that of a running host,
// which has another one, and would have answered there.
func TestPageOfAnotherStoreIsNotThatOfTheHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t, "--http")
	p.must("get_status", `{}`, nil)
	url := w.portFile(t).URL
	for _, c := range []struct {
		args  []string
		finds bool
	}{
		{[]string{"ui", "--no-browser"}, true},
		{[]string{"ui", "--json", "--no-browser"}, true},
		{[]string{"ui", "--no-browser", "--store", filepath.Join(t.TempDir(), "other.db")}, false},
	} {
		out, err := w.command(t, c.args...).CombinedOutput()
		require.Equal(t, c.finds, err == nil, "%s", out)
		require.Equal(t, c.finds, strings.Contains(string(out), url), "%s", out)
		require.Equal(t, c.args[1] == "--json", json.Valid(out), "%s", out)
	}
}
