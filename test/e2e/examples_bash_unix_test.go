//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// bash returns the command for a script in bash 4.3 or later, in the world, with the real program on the PATH.
func (w world) bash(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil || exec.Command(shell, "-c", "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 403))").Run() != nil {
		t.Skip("the example is for bash 4.3 and later, which is not installed")
	}
	program := w.command(t)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(program.Path, filepath.Join(bin, "waybill")))
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir, cmd.WaitDelay = program.Dir, patience
	cmd.Env = append(program.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C.UTF-8")
	return cmd
}

// Both ways to call print what the README of the example says.
func TestBashHostPrintsWhatItsReadmeSays(t *testing.T) {
	t.Parallel()
	home, err := filepath.Abs(filepath.Join("examples", "bash"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(home, "README.md"))
	require.NoError(t, err)
	printed := regexp.MustCompile("(?s)```text\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, printed)
	for _, way := range []string{"call", "pipe"} {
		out, err := newWorld(t).bash(t, filepath.Join(home, "host.sh"), way).CombinedOutput()
		require.NoError(t, err, "%s: %s", way, out)
		require.Equal(t, string(printed[1]), string(out), way)
	}
}

// An error is told with its message, and ends the host.
func TestBashHostTellsErrors(t *testing.T) {
	t.Parallel()
	home, err := filepath.Abs(filepath.Join("examples", "bash"))
	require.NoError(t, err)
	for _, way := range []string{"call", "pipe"} {
		script := `source "$0/json.bash"; source "$0/$1.bash"; ask get_task '{"task_id":
			"nobody"}' || { leave; exit 7; }`
		cmd := newWorld(t).bash(t, "-c", script, home, way)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 7, cmd.ProcessState.ExitCode(), "%s: %s", way, out)
		require.Contains(t, string(out), `no task has the id "nobody"`, way)
	}
}

// What bash makes of a text is that text in JSON, and what it reads out of JSON is the text again.
func TestBashQuotesAndReadsJSON(t *testing.T) {
	t.Parallel()
	home, err := filepath.Abs(filepath.Join("examples", "bash"))
	require.NoError(t, err)
	for _, text := range []string{
		"", "plain", `a "quoted" one`, `C:\new\table\x41 \c \"`, "two\nlines\tand\x01\x1f more", "é😀/ ${HOME} `id` $(id) %s %n", `"x":"no"`,
	} {
		script := `source "$0/json.bash"; said=$(quote "$1"); echo "$said"; text x "{\"y\":$said,\"x\":$said}"`
		out, err := newWorld(t).bash(t, "-c", script, home, text).Output()
		require.NoError(t, err, text)
		var quoted string
		d := json.NewDecoder(bytes.NewReader(out))
		require.NoError(t, d.Decode(&quoted), "%s", out)
		require.Equal(t, text, quoted)
		require.Equal(t, "\n"+text, string(out[d.InputOffset():]))
	}
}
