package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// asWaybill, set in the environment, makes the test binary be the program itself. Commands that
// testscript sets up by the program's name are the program too.
const asWaybill = "WAYBILL_TEST_BINARY_IS_WAYBILL"

func TestMain(m *testing.M) {
	if os.Getenv(asWaybill) != "" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"waybill": main})
}

// TestScripts plays what users type, against the real program.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			root, err := os.Getwd()
			if err != nil {
				return err
			}
			env.Setenv("REPOSITORY", root)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv(asWaybill, "") // the program's own children find themselves by name
			return os.CopyFS(filepath.Join(env.WorkDir, "seedshelf"), os.DirFS("examples/workspace"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"spoil": spoil, "modes": modes},
		Condition: func(cond string) (bool, error) {
			name, ok := strings.CutPrefix(cond, "has:")
			if !ok {
				return false, nil
			}
			_, err := exec.LookPath(name)
			return err == nil, nil
		},
	})
}

// spoil is the command `spoil FILE TEXT`: it flips a bit of the file where the text is first, as a bad
// disk does.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoil FILE TEXT")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	at := bytes.Index(data, []byte(args[1]))
	if at < 0 {
		ts.Fatalf("%s has no %q", path, args[1])
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(path, data, 0o600))
}

// modes is the command `modes FOLDER`: it fails unless the folder and all in it are for their owner only.
func modes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: modes FOLDER")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("%s is open to others: %v", path, info.Mode())
		}
		return err
	}))
}

// ids and times differ from run to run.
var (
	anyID   = regexp.MustCompile(`(ins|run|ntc)_[0-9a-f-]{36}`)
	anyTime = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)
)

func normal(text string) string {
	text = anyID.ReplaceAllString(text, "${1}_…")
	return anyTime.ReplaceAllString(text, "…")
}

// TestReadmeTranscript runs the commands of the README and compares what they print with what the
// README says that they print.
func TestReadmeTranscript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the commands of the README are for bash, and there is none")
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```console\n")
	require.True(t, found, "the README has no console block")
	block, _, _ := strings.Cut(rest, "```")

	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "waybill")))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "work"), os.DirFS("examples/workspace")))
	for _, step := range strings.Split(block, "$ ")[1:] {
		command, want := split(step)
		cmd := exec.Command(bash, "-c", command)
		cmd.Dir = filepath.Join(dir, "work")
		cmd.Env = append(os.Environ(), asWaybill+"=1", "GORACE=atexit_sleep_ms=0", "PATH="+dir+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		got, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", command, got)
		require.Equal(t, normal(want), normal(string(got)), "the README says something else about: %s", command)
	}
}

// split divides a step of a transcript into its command, which goes on over lines that end in a
// backslash, and its output.
func split(step string) (command, output string) {
	lines := strings.SplitAfter(step, "\n")
	for i, line := range lines {
		command += line
		if !strings.HasSuffix(line, "\\\n") {
			return command, strings.Join(lines[i+1:], "")
		}
	}
	return command, ""
}

// TestExitCodes holds what a script can rely on.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(dir, "work"), os.DirFS("examples/workspace")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("not a database\n", 100)), 0o600))
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"version"}},
		{0, []string{"call", "ping"}},
		{2, []string{"frobnicate"}},
		{2, []string{"call"}},
		{2, []string{"call", "frobnicate"}},
		{2, []string{"call", "queue_instruction", `{"contents":"x"}`}},
		{2, []string{"tail", "--since", "yesterday"}},
		{3, []string{"call", "acknowledge", `{"instruction_id":"ins_x"}`}},
		{3, []string{"call", "init_run", `{"plan":"tasks.md","item_id":"99"}`}},
		{0, []string{"call", "queue_instruction", `{"content":"x","idempotency_key":"k"}`}},
		{4, []string{"call", "queue_instruction", `{"content":"y","idempotency_key":"k"}`}},
		{5, []string{"status", "--store", filepath.Join(dir, "text.db")}},
		{0, []string{"doctor"}},
		{0, []string{"doctor", "--store", filepath.Join(dir, "none.db")}},
		{1, []string{"doctor", "--workspace", filepath.Join(dir, "none")}},
		{5, []string{"doctor", "--store", filepath.Join(dir, "text.db")}},
		{2, []string{"backup"}},
		{0, []string{"backup", filepath.Join(dir, "copy.db")}},
		{4, []string{"backup", filepath.Join(dir, "copy.db")}},
		{5, []string{"backup", filepath.Join(dir, "none", "copy.db")}},
		{3, []string{"backup", filepath.Join(dir, "none"), "--store", filepath.Join(dir, "none.db")}},
		{3, []string{"salvage", "--store", filepath.Join(dir, "none.db")}},
		{4, []string{"salvage", filepath.Join(dir, "copy.db")}},
	} {
		cmd := exec.Command(self, c.args...)
		cmd.Dir = filepath.Join(dir, "work")
		cmd.Env = append(os.Environ(), asWaybill+"=1", "GORACE=atexit_sleep_ms=0", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		out, err := cmd.CombinedOutput()
		if c.code == 0 {
			require.NoError(t, err, "%v: %s", c.args, out)
		}
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s", c.args, out)
	}
}
