//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

// The demo stays open for a person, whose answer the host behind the page goes on with; and it leaves nothing behind.
func TestDemoStaysOpenAtThePage(t *testing.T) {
	w := newWorld(t)
	cmd := w.command(t, "demo", "--ui", "--no-browser")
	played := filepath.Join(t.TempDir(), "it's played here")
	require.NoError(t, os.Mkdir(played, 0o700))
	cmd.Env = append(cmd.Env, "TMPDIR="+played)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(pipe)
	until := func(part string) string {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return strings.TrimSpace(lines.Text())
			}
		}
		require.FailNow(t, "it ended before it said "+part)
		return ""
	}
	link, another := until("/#c="), until("XDG_STATE_HOME=")
	until("Ctrl-C")
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", another)
	shell.Env = cmd.Env
	again, err := shell.Output()
	require.NoError(t, err, another)
	var c *caller
	for _, link := range []string{strings.TrimSpace(string(again)), link} {
		address, code, found := strings.Cut(link, "/#c=")
		require.True(t, found, link)
		require.True(t, c == nil || c.URL == address)
		c = &caller{t: t, URL: address}
		var let struct{ Token string }
		c.ask(200, "POST", "/api/login", `{"code":"`+code+`"}`, &let)
		c.Token = let.Token
	}
	var waiting schema.TaskList
	c.ask(200, "GET", "/api/awaiting", "", &waiting)
	require.Len(t, waiting.Items, 2)
	id := waiting.Items[0].TaskID
	c.ask(200, "POST", "/api/tasks/"+id+"/reply", `{"reply":"One table."}`, nil)
	until("the task is COMPLETE")
	var task schema.TaskDetail
	c.ask(200, "GET", "/api/tasks/"+id, "", &task)
	require.Equal(t, "Done, as you said:\n\nOne table.", task.Task.Output)
	require.Len(t, task.Attempts, 2)

	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	for lines.Scan() {
		require.NotContains(t, lines.Text(), "error")
	}
	require.NoError(t, cmd.Wait())
	left, err := os.ReadDir(played)
	require.NoError(t, err)
	require.Empty(t, left)
}
