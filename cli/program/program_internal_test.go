package program

// This test is inside because no command shows the settings by which it works in another workspace.

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/settings"
)

// Flags and variables apply to the workspace that the host serves. They once changed retries and plans of other workspaces.
func TestOtherWorkspaceHasNoFlagsOfThisOne(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"plans":{"dialects":["*.md=kiro"]},"tasks":{"retry_delay_ms":7000}}`), 0o600))
	a := &App{Printer: output.Printer{Env: func(name string) string {
		return map[string]string{"WAYBILL_CONFIG": config, "WAYBILL_KEEP_DAYS": "3"}[name]
	}}}
	cmd := &cobra.Command{}
	a.AddFlags(cmd)
	cmd.Flags().Duration(settings.RetryDelayFlag, time.Second, "")
	settings.MarkSettings(cmd)
	require.NoError(t, cmd.ParseFlags([]string{"--dialect", "*.txt=kiro", "--retry-delay", "9s"}))
	require.NoError(t, a.CheckFlags(cmd))
	require.NoError(t, a.Configure(cmd))
	a.Known.Root = t.TempDir()

	there := a.At(t.TempDir())
	require.Equal(t, there.Workspace, there.Sources().Flag)
	require.Empty(t, there.Known.Root)
	l, err := there.Local()
	require.NoError(t, err)
	l.Close()
	require.Equal(t, 7*time.Second, there.Settings.RetryDelay())
	require.Equal(t, 30*24*time.Hour, there.Settings.Keep().For)
	require.Len(t, there.Dialects.Rules, 1)
	require.Equal(t, "*.md", there.Dialects.Rules[0].Pattern)
	require.Equal(t, 9*time.Second, a.Settings.RetryDelay())
	require.Equal(t, "*.txt", a.Dialects.Rules[0].Pattern)

	a.Store = "named.db" // has one workspace
	require.Equal(t, 9*time.Second, a.At(t.TempDir()).Settings.RetryDelay())
}
