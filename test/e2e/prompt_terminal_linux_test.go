package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A prompt fits the terminal, is coloured by trust for one that wants it, and is never written to one as it is.
func TestPromptOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := "- [ ] 1. " + strings.Repeat("Ferry timetable ", 12) + "\n  - see \x1b[2J\u202ehere\n"
	require.NoError(t, os.WriteFile(filepath.Join(w.workspace, "tasks.md"), []byte(plan), 0o600))
	p := w.serve(t)
	run := p.gets("run_id", "init_run", `{"plan":"tasks.md","item_id":"1"}`)
	p.must("compile_prompt", fmt.Sprintf(`{"run_id":%q,"role":"worker","task_prompt":"\u001b[2Jdraw"}`, run), nil)

	for _, width := range []uint16{60, 100} {
		dressed, _ := w.fits(t, width, "prompt", "tasks.md", "1")
		require.Contains(t, dressed, "\x1b[32mstable_prefix  from waybill, trusted")
		require.Contains(t, dressed, "\x1b[33mTask  from plan, untrusted")
		require.NotContains(t, dressed, "\u202e")
	}
	written, err := w.triedOnTerminal(t, 80, nil, "prompt", "tasks.md", "1", "--raw")
	require.ErrorContains(t, err, "exit status 2")
	require.Empty(t, written)
}

// What was given to a host that is served meanwhile is what the command compares with, a second later.
func TestPromptDiffWhileItIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := filepath.Join(w.workspace, "tasks.md")
	require.NoError(t, os.WriteFile(plan, []byte("- [ ] 1. Ferry timetable\n"), 0o600))
	p := w.serve(t)
	p.must("init_run", `{"plan":"tasks.md","item_id":"1"}`, nil)
	run := p.gets("run_id", "resume_run", `{"plan":"tasks.md","item_id":"1"}`)
	p.must("compile_prompt", fmt.Sprintf(`{"run_id":%q,"role":"worker"}`, run), nil)
	require.Eventually(t, func() bool {
		out, err := w.command(t, "prompt", "tasks.md", "1", "--diff").Output()
		return err == nil && strings.HasPrefix(string(out), "nothing differs from the prompt that was given last, ")
	}, patience, patience/100)
	require.NoError(t, os.WriteFile(plan, []byte("- [ ] 1. Ferry model\n"), 0o600))
	dressed := w.onTerminal(t, 80, nil, "prompt", "tasks.md", "1", "--diff")
	require.Contains(t, dressed, "\x1b[31m-Title: Ferry timetable\x1b[0m\n")
	require.Contains(t, dressed, "\x1b[32m+Title: Ferry model\x1b[0m\n")
}
