package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A host that was started with --notify has the command of a person told of a question, once.
func TestServeNotifies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pipe := filepath.Join(t.TempDir(), "told")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	p := w.serve(t, "--notify", `(echo "$WAYBILL_NOTIFY"; cat) > '`+pipe+`'; echo this is no protocol`)
	c := p.asks("By colour, or by \x1b[2Jage?")
	told, err := os.ReadFile(pipe) // it waits for the command
	require.NoError(t, err)
	const text = "work: Sort the packets.: By colour, or by \uFFFD[2Jage?"
	line, doc := string(told[:len(text)]), told[len(text)+1:]
	require.Equal(t, text, line)
	var m struct {
		Text, Workspace string
		Waiting         int
		New             []struct{ Kind, ID string }
	}
	require.NoError(t, json.Unmarshal(doc, &m))
	require.Equal(t, text, m.Text)
	require.Equal(t, filepath.Clean(w.workspace), m.Workspace)
	require.Equal(t, 1, m.Waiting)
	require.Equal(t, "question", m.New[0].Kind)
	require.Equal(t, c.Task.TaskID, m.New[0].ID)
	p.must("ping", `{}`, nil) // the output of the command is not in the protocol
	require.NoError(t, p.in.Close())
	require.Zero(t, p.end())
}
