package acp

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/acp"
	"waybill/cli/output"
	"waybill/cli/program"
)

func TestSessionsHaveNamesThatTheStoreTakes(t *testing.T) {
	require.Equal(t, "ses_1.a:b-C", name("ses_1.a:b-C"))
	odd := name("a session/ä")
	require.Regexp(t, `^acp-[0-9a-f]{24}$`, odd)
	require.NotEqual(t, odd, name("a session/ö"))
}

func TestTheServerServesTheSameStore(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), nil, 0o600))
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state"), "PGPASSWORD": "secret"}
	app := &program.App{}
	app.Printer = output.Printer{Env: func(name string) string { return env[name] }}
	app.Store = "stores/a.db"
	p := newPolicy(app, slog.New(slog.DiscardHandler))
	server, ok := p.Server(dir)
	require.True(t, ok)
	here, err := filepath.Abs("stores/a.db")
	require.NoError(t, err)
	require.Equal(t, []string{"mcp", "--hooks", "--workspace", dir, "--store", here}, server.Args)
	require.Len(t, server.Env, 1)
	require.Equal(t, "XDG_STATE_HOME", server.Env[0].Name)
	_, ok = p.Server(filepath.Join(t.TempDir(), "none"))
	require.False(t, ok, "no workspace, no server")
}

// A store that was busy at the first prompt is asked for the resume anchor at the next.
func TestAFaultDoesNotLoseTheResumeAnchor(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte("- [ ] 1 Paint the fence\n"), 0o600))
	app := &program.App{}
	app.Printer = output.Printer{Env: func(string) string { return "" }}
	app.Store = filepath.Join(dir, "a.db")
	p := newPolicy(app, slog.New(slog.DiscardHandler))
	defer p.close()
	p.Open("s", dir)
	require.NoError(t, p.Asked(t.Context(), "s", acp.Question{ID: "1", Text: "Which colour?"})) // there is a store now
	late, cancel := context.WithCancel(t.Context())
	cancel()
	text, err := p.Prompt(late, "s")
	require.ErrorContains(t, err, "given up")
	text.Undo()
	require.NotContains(t, p.anchored, "s")
	_, err = p.Prompt(t.Context(), "s")
	require.NoError(t, err)
	require.Contains(t, p.anchored, "s")
}
