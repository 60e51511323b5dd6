package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/plan"
)

// This test is inside because nobody can come between two steps of a command from outside.

// The file was saved after the command had read it: it stays, and the exit code is that of a conflict.
func TestPlanThatWasSavedAfterItWasReadIsNotSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.md")
	const read, saved = "- [ ] 1. Dig\n", "- [ ] 1. Dig deeper\n"
	require.NoError(t, os.WriteFile(path, []byte(saved), 0o644))
	a := commands{&program.App{Printer: output.Printer{Env: func(string) string { return "" }}}}
	set := planSet{Hash: plan.Hash(read)}
	err := a.writeStatus(t.Context(), planText{name: path, text: read}, plan.Marking{ItemID: "1", Line: 1, Status: plan.Completed}, &set)
	require.ErrorContains(t, err, "was changed by another program")
	require.Equal(t, output.ExitConflict, output.ExitCode(err))
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, saved, string(is))
	require.Zero(t, set.ChangedBytes)
}

func TestLineAtAnOffset(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb^c\nd": "bc", "a\r\nb^\r\nd": "b", "\ufeffa^": "a", "a\r^b": "b", "^": "", "a\n^": "", "a\n\ufeff^b": "b",
	} {
		at := 0
		for text[at] != '^' {
			at++
		}
		require.Equal(t, want, lineAt(text[:at]+text[at+1:], at), "%q", text)
	}
}
