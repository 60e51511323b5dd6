package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// An export once wrote the texts of hosts to a terminal as they are, so that they could hide, reorder and send commands.
func TestExportToATerminalIsSafeAndToAPipeExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.Repeat("日本語\u009b2J\u202eevil\u2066\u007f\u200b\U000e0041 ", 9000)
	w.pipe(t, request(t, "queue_instruction", map[string]any{"content": text}))

	file := filepath.Join(t.TempDir(), "export.jsonl")
	_, err := w.command(t, "export", file).Output()
	require.NoError(t, err)
	piped, err := w.command(t, "export", "-").Output()
	require.NoError(t, err)
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(saved), string(piped))
	require.Contains(t, string(piped), text)

	for _, args := range [][]string{{"export"}, {"export", "-"}} {
		shown := w.onTerminal(t, 80, nil, args...)
		for _, r := range shown {
			require.True(t, r == '\n' || unicode.IsPrint(r), "%q reached the terminal", r)
		}
		lines, exact := strings.Split(shown, "\n"), strings.Split(string(piped), "\n")
		require.Len(t, lines, len(exact))
		for i := range lines[:len(lines)-1] {
			require.JSONEq(t, exact[i], lines[i])
		}
	}
}

// request returns one call of JSON-RPC as a line.
func request(t *testing.T, method string, params any) string {
	t.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(t, err)
	return string(line) + "\n"
}
