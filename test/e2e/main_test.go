// Package e2e plays what users and hosts do, against the real program and the real hosts.
package e2e_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"waybill/cli"
	"waybill/schema"
	"waybill/test/fakeagent/play"
	"waybill/test/shipped"
)

// asWaybill, set in the environment, makes the test binary be the program itself.
const asWaybill = "WAYBILL_TEST_BINARY_IS_WAYBILL"

func TestMain(m *testing.M) {
	if os.Getenv(asWaybill) != "" {
		main()
	}
	testscript.Main(fromRoot{m}, map[string]func(){
		"fakeagent": func() { os.Exit(play.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// main is the program, as ../../main.go starts it.
func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "dev"))
}

// fromRoot runs the tests in the folder of the repository, without the settings of the person who runs them.
type fromRoot struct{ *testing.M }

func (r fromRoot) Run() int {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	_ = os.Setenv("XDG_CONFIG_HOME", filepath.Join(os.TempDir(), "waybill-tests-have-no-settings"))
	_ = flag.Set("test.parallel", "6") // the tests wait for processes; the command line overrides it
	folder, err := os.MkdirTemp("", "waybill-e2e-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // a folder for temporary files
	binaries = folder
	return r.M.Run()
}

// binaries is the folder for the program, for as long as the tests run.
var binaries string

// build builds the program as users get it, once, and returns its path.
var build = sync.OnceValues(func() (string, error) { return shipped.Build(binaries) })

// writeProgram writes a script that can be started at once. If another test forked while the file is open, its child
// would keep the file open for a moment, and the system starts no file that is open for writing.
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
}

// program returns the real program in a folder, with its state in another one.
func program(t *testing.T, dir, state string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = dir
	// The race detector would sleep for a second at each exit.
	cmd.Env = append(os.Environ(), asWaybill+"=1", "GORACE=atexit_sleep_ms=0", "XDG_STATE_HOME="+state, "XDG_CACHE_HOME="+state+".cache")
	return cmd
}

// shell returns a script for bash in a new folder, which has the examples and, in PATH, the real program.
func shell(t *testing.T, example string) (dir string, script func(text string, flags ...string) *exec.Cmd) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the commands are for bash, and there is none")
	}
	dir = t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.CopyFS(work, os.DirFS(example)))
	inner := program(t, work, filepath.Join(dir, "state"))
	require.NoError(t, os.Symlink(inner.Path, filepath.Join(dir, "waybill")))
	return dir, func(text string, flags ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), bash, append(flags, "-c", text)...)
		cmd.Dir, cmd.Env = work, append(inner.Env, "PATH="+dir+":"+os.Getenv("PATH"))
		return cmd
	}
}

// TestScripts plays what users type, against the program as they get it. Its thousand processes take a fifth of the
// time that they take with the race detector; the other tests of this folder have that.
func TestScripts(t *testing.T) {
	t.Parallel()
	binary, err := build()
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "test/e2e/testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			root, err := os.Getwd()
			if err != nil {
				return err
			}
			env.Setenv("REPOSITORY", root)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("PATH", filepath.Dir(binary)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			return os.CopyFS(filepath.Join(env.WorkDir, "seedshelf"), os.DirFS("examples/workspace"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"spoil": spoil, "modes": modes, "capture": capture, "exits": exits, "fill": fill, "rested": rested, "aged": aged,
		},
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

// capture NAME PATTERN puts the first group of the pattern, as it is in the last standard output, into
// the environment of the script.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("standard output does not have %s with one group", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// fill FILE puts values of the environment of the script in the place of $NAME in a file.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fill FILE")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// rested FILE makes a file one that was written a minute ago, which no editor is writing any more.
func rested(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: rested FILE")
	}
	then := time.Now().Add(-time.Minute)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), then, then))
}

// aged FILE makes a file one that was written a day ago.
func aged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: aged FILE")
	}
	then := time.Now().Add(-24 * time.Hour)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), then, then))
}

// exits CODE COMMAND… runs a command that must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	ended, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil && code == 0:
	case !ok:
		ts.Fatalf("it ended with %v, not with %d", err, code)
	case ended.ExitCode() != code:
		ts.Fatalf("it ended with %d, not with %d", ended.ExitCode(), code)
	}
}

// ids and times differ from run to run.
var (
	anyID   = regexp.MustCompile(`(ins|tsk|att|run|ntc|lease)_[0-9a-f-]{36}`)
	anyTime = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	anyWait = regexp.MustCompile(`\bfor (<?\d+m?s):`)
	anyAge  = regexp.MustCompile(` +\d+s #`)
	anySpan = regexp.MustCompile(`  in <?\d+m?s`)
)

func normal(text string) string {
	text = anySpan.ReplaceAllString(anyID.ReplaceAllString(text, "${1}_…"), "")
	text = anyAge.ReplaceAllString(anyWait.ReplaceAllString(text, "for …:"), " … #")
	return anyTime.ReplaceAllString(text, "…")
}

// TestTranscripts runs the commands of the README and of the tutorial, and compares their output with that of the pages.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	for page, example := range map[string]string{"README.md": "examples/liar", "docs/tutorial.md": "examples/workspace"} {
		_, script := shell(t, example)
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		found := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllSubmatch(text, -1)
		require.Len(t, found, 1, "the console blocks of %s", page)
		for _, step := range steps(found) {
			command, want := split(step)
			got, err := script(command).CombinedOutput()
			require.NoError(t, err, "%s\n%s", command, got)
			require.Equal(t, normal(want), normal(string(got)), "the page says something else about: %s", command)
		}
	}
}

// TestTutorial runs the shell commands of the tutorial, but for the first, which builds the program.
func TestTutorial(t *testing.T) {
	t.Parallel()
	dir, script := shell(t, "examples/workspace")
	page, err := os.ReadFile("docs/tutorial.md")
	require.NoError(t, err)
	var commands strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1)[1:] {
		commands.Write(block[1])
	}
	cmd := script(strings.ReplaceAll(commands.String(), "/tmp/try", filepath.Join(dir, "try")), "-e")
	cmd.Dir = "" // the repository, as the tutorial says
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "instructions  1 acknowledged")
	require.Contains(t, string(said), "the plan is completed")
	require.Contains(t, string(said), "2/2 in the file, 2 approved (2 proven)")
}

// The difference of two prompts in the tutorial is the one that is printed for this plan and this change of it, line
// numbers and all.
func TestTutorialDiffIsThatOfThePrompt(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/tutorial.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?s)\n\$ waybill prompt tasks\.md 1 --diff\n(.*?)` + "```").FindSubmatch(page)
	require.Len(t, found, 2)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
	write := func(title string) {
		plan := "- [ ] 1. " + title + "\n  - _Prompt: Role: clock engineer | Task: model the times_\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte(plan), 0o600))
	}
	waybill := func(args ...string) string {
		got, err := program(t, dir, filepath.Join(dir, ".state"), args...).CombinedOutput()
		require.NoError(t, err, "%s", got)
		return string(got)
	}
	write("Ferry timetable")
	run := regexp.MustCompile(`run_[0-9a-f-]{36}`).FindString(waybill("call", "init_run", `{"plan":"tasks.md","item_id":"1"}`))
	waybill("call", "compile_prompt", `{"run_id":"`+run+`","role":"worker"}`)
	write("Ferry times")
	given := regexp.MustCompile(`given 20\d\d.* ago`)
	as := func(text string) string { return given.ReplaceAllString(normal(text), "given … ago") }
	require.Equal(t, as(string(found[1])), as(waybill("prompt", "tasks.md", "1", "--diff")))
}

// steps returns the commands of all blocks, each with what it prints.
func steps(blocks [][][]byte) (all []string) {
	for _, block := range blocks {
		for _, step := range strings.Split("\n"+string(block[1]), "\n$ ")[1:] {
			all = append(all, strings.TrimSuffix(step, "\n")+"\n")
		}
	}
	return all
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
	t.Parallel()
	dir := t.TempDir()
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
		{2, []string{"reply", "tsk_x", "-m", strings.Repeat("x", 1+schema.MaxReplyBytes)}},
		{2, []string{"serve", "--retry-delay", "2h"}},
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
		{2, []string{"import"}},
		{4, []string{"export", filepath.Join(dir, "copy.db")}},
		{0, []string{"export", filepath.Join(dir, "all.jsonl")}},
		{4, []string{"import", filepath.Join(dir, "all.jsonl")}},
		{0, []string{"import", filepath.Join(dir, "all.jsonl"), "--store", filepath.Join(dir, "imported.db")}},
		{5, []string{"restore", filepath.Join(dir, "text.db")}},
		{3, []string{"restore", filepath.Join(dir, "none.db")}},
		{0, []string{"restore", filepath.Join(dir, "copy.db")}},
		{2, []string{"store", "migrate"}},
	} {
		cmd := program(t, filepath.Join(dir, "work"), filepath.Join(dir, "state"), c.args...)
		out, err := cmd.CombinedOutput()
		if c.code == 0 {
			require.NoError(t, err, "%v: %s", c.args, out)
		}
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s", c.args, out)
	}
}

// The README once promised a host in fewer lines than it has.
func TestReadmeCountsTheLinesOfTheExamples(t *testing.T) {
	t.Parallel()
	lines := func(name string) int {
		text, err := os.ReadFile(filepath.Join("examples", "python", name))
		require.NoError(t, err)
		return bytes.Count(text, []byte("\n"))
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), fmt.Sprintf("`examples/python/host.py` is a whole host in %d lines, `examples/python/worker.py` a worker in %d.",
		lines("host.py"), lines("worker.py")))
}
