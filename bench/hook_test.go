package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkHook measures whole processes: a hook of a tool call and one before a prompt, on a store that exists, beside a program
// that opens the same SQLite, inserts a row, syncs and closes; and the version command beside an empty program.
func BenchmarkHook(b *testing.B) {
	dir := b.TempDir()
	empty, err := build("testdata/empty", filepath.Join(dir, "empty"))
	require.NoError(b, err)
	bare, err := build("testdata/barecommit", filepath.Join(dir, "barecommit"))
	require.NoError(b, err)
	b.Run("version", func(b *testing.B) {
		measureProcess(b, "empty", func(int) *exec.Cmd { return exec.Command(empty) }, func(int) *exec.Cmd { return exec.Command(programs.waybill, "version") })
		b.ReportMetric(initialised(b), "p50-ms-init")
	})
	for event, input := range map[string]string{
		"tool":   `{"session_id":"s","hook_event_name":"PostToolUse","tool_use_id":"t%d","tool_name":"Bash","tool_input":{"command":"go vet ./..."},"tool_response":"ok"}`,
		"prompt": `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"Go on."}`,
	} {
		b.Run("event="+event, func(b *testing.B) {
			root := b.TempDir()
			state := filepath.Join(root, "state")
			require.NoError(b, waybillCommand(root, state, "call", "queue_instruction", `{"content":"a store must exist","session_id":"other"}`).Run())
			measureProcess(b, "bare-commit",
				func(int) *exec.Cmd { return exec.Command(bare, filepath.Join(root, "bare.db")) },
				func(i int) *exec.Cmd {
					cmd := waybillCommand(root, state, "hook", "claude-code")
					cmd.Stdin = strings.NewReader(strings.ReplaceAll(input, "%d", fmt.Sprint(i)))
					return cmd
				})
		})
	}
}

// initialised returns how long the packages of the program take to initialise, in milliseconds.
func initialised(b *testing.B) float64 {
	var all series
	for range 30 {
		cmd := exec.Command(programs.waybill, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var trace strings.Builder
		cmd.Stderr = &trace
		require.NoError(b, cmd.Run())
		sum := 0.0
		for line := range strings.Lines(trace.String()) { // init NAME @0.1 ms, 0.2 ms clock, ...
			if words := strings.Fields(line); len(words) > 5 && words[0] == "init" {
				took, err := strconv.ParseFloat(words[4], 64)
				require.NoError(b, err)
				sum += took
			}
		}
		require.Positive(b, sum)
		all = append(all, sum)
	}
	return all.median()
}

// waybillCommand is a command on the store of a workspace.
func waybillCommand(workspace, state string, args ...string) *exec.Cmd {
	cmd := waybill(workspace, state)
	cmd.Args = append([]string{cmd.Args[0], "--workspace", workspace}, args...)
	return cmd
}

// measureProcess runs one program beside another, and reports the times of both and their ratio.
func measureProcess(b *testing.B, probe string, raw, ours func(i int) *exec.Cmd) {
	var least, own series
	run := func(cmd *exec.Cmd) float64 {
		start := time.Now()
		out, err := cmd.CombinedOutput()
		took := millis(time.Since(start))
		require.NoError(b, err, "%s", out)
		return took
	}
	for i := 0; b.Loop(); i++ {
		before := run(raw(i))
		own = append(own, run(ours(i)))
		least = append(least, (before+run(raw(i)))/2)
	}
	reportOnly(b)
	b.ReportMetric(least.median(), "p50-ms-"+probe)
	b.ReportMetric(own.median(), "p50-ms")
	b.ReportMetric(own.quantile(0.95), "p95-ms")
	b.ReportMetric(own.over(least), "x-"+probe)
}
