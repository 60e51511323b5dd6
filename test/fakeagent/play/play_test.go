package play_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/read"
	"waybill/prompt"
	"waybill/test/fakeagent/play"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const item = "2.1"

var everyRole = []core.Role{core.Worker, core.SpecReviewer, core.CodeQualityReviewer}

// answer is what became of one agent.
type answer struct {
	exit           int
	stdout, stderr string
}

func ask(prompt string, args ...string) answer {
	return perform(play.Options{Args: args}, prompt)
}

func perform(o play.Options, prompt string) answer {
	var stdout, stderr bytes.Buffer
	o.Stdin, o.Stdout, o.Stderr = strings.NewReader(prompt), &stdout, &stderr
	exit := play.Play(o)
	return answer{exit, stdout.String(), stderr.String()}
}

// compiled returns a real prompt.
func compiled(t *testing.T, role core.Role, id string) string {
	t.Helper()
	plan, err := read.Read("# Clock\n- [ ] "+id+" Draw the hands\n  - the minute hand is the longer one\n", plan.Hints{})
	require.NoError(t, err)
	progress, err := ledger.Progress(plan, "clock", "tasks.md", id)
	require.NoError(t, err)
	c, err := prompt.Compile(prompt.CompileInput{
		RunID: "run_7", Role: ledger.Role(role), Progress: progress,
	})
	require.NoError(t, err)
	return c.Prompt
}

// scripted writes a script and returns the flag for it.
func scripted(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.script")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return "--script=" + path
}

func judge(role core.Role, text string) verdict.Judgement {
	return verdict.Judge(text, verdict.Asked{Role: role, ItemID: item, TaskID: "tsk_7"})
}

func TestTheRoleAndTheItemAreReadFromThePrompt(t *testing.T) {
	for _, role := range everyRole {
		for _, id := range []string{"1", "2.1", "10.2a"} {
			first := compiled(t, role, id)
			asked := verdict.Asked{Role: role, ItemID: id}
			again := verdict.RetryPrompt(first, asked, verdict.Judge("[Task] (from plan; untrusted)\nTask id: 9", asked).Errors)
			continued := func(task string) string {
				text, _ := prompt.Continuation(prompt.Dialogue{
					Task: task, Question: "[Task] (from plan; untrusted)\nTask id: 8", Reply: "The task was:\n[Continue Task]\nTask id: 7",
				})
				return text
			}
			for name, p := range map[string]string{
				"first": first, "with CR LF": strings.ReplaceAll(first, "\n", "\r\n"), "retry": again, "continuation": continued(first),
				"continued retry": continued(again), "retried continuation": verdict.RetryPrompt(continued(first), asked, nil),
				"retry of a bare prompt": verdict.RetryPrompt("Draw the hands.", asked, nil),
			} {
				got := ask(p)
				require.Equal(t, 0, got.exit, "%s of %s: %s", name, role, got.stderr)
				require.True(t, strings.HasPrefix(got.stdout, fmt.Sprintf("role: %s\ntask_id: %s\n", role, id)), "%s of %s: %s", name, role, got.stdout)
			}
		}
	}
}

// A retry prompt shows only the beginning of a long id, and the agent once would have answered with that.
func TestALongItemIsWholeInTheAnswerToARetry(t *testing.T) {
	id := strings.Repeat("1.", 45) + "1"
	p := verdict.RetryPrompt(compiled(t, core.Worker, id), verdict.Asked{Role: core.Worker, ItemID: id}, nil)
	require.Contains(t, ask(p).stdout, "\ntask_id: "+id+"\n")
}

// What the caller adds to a task is not neutralised, and stands behind the section that counts.
func TestOnlyTheTaskSectionNamesTheItem(t *testing.T) {
	p := strings.Replace(compiled(t, core.Worker, item), "[Task Prompt]", "[Task Prompt]\n[Task]\nTask id: 9\n", 1)
	require.Contains(t, ask(p).stdout, "\ntask_id: 2.1\n")
}

func TestFlagsCountMoreThanThePrompt(t *testing.T) {
	got := ask(compiled(t, core.Worker, item), "--role", "spec-reviewer", "--task=7")
	require.Equal(t, ask("Look at it.", "--role=spec-reviewer", "--task=7"), got)
	require.True(t, strings.HasPrefix(got.stdout, "role: spec-reviewer\ntask_id: 7\nstatus: pass\n"), got.stdout)
}

func TestMistakesOfTheCallerAreToldOnStandardError(t *testing.T) {
	compiled := compiled(t, core.Worker, item)
	for _, c := range []struct {
		prompt, says string
		args         []string
	}{
		{"Draw the hands.", "found no role in the prompt", nil},
		{"", "found no role in the prompt", nil},
		{"[Task] (from plan; untrusted)\nTask id: 2.1\n", "found no role in the prompt", nil},
		{"Draw the hands.", "found no item in the prompt", []string{"--role=worker"}},
		{"RETRY CONTEXT: again\n\nrole: painter\ntask_id: 2.1\n\n---\nx", `found the role "painter" in the prompt; allowed: worker, spec-reviewer`, nil},
		{compiled, `found --role "painter"; allowed: worker, spec-reviewer, code-quality-reviewer`, []string{"--role=painter"}},
		{compiled, `found --task "2\n1"; allowed: one line`, []string{"--task=2\n1"}},
		{compiled, "found --try -1; allowed: a number from 1", []string{"--try=-1"}},
		{compiled, `found --try 1 and --memory "m"; allowed: one of them`, []string{"--try=1", "--memory=m"}},
		{compiled, `invalid value "x" for flag -try`, []string{"--try=x"}},
		{compiled, "-loud; fakeagent -h says what there is", []string{"--loud"}},
		{compiled, `found the argument "2.1"; allowed: flags only`, []string{"2.1"}},
		{compiled, "read the script: open ", []string{"--script=" + filepath.Join(t.TempDir(), "none")}},
	} {
		got := ask(c.prompt, c.args...)
		require.Equal(t, 2, got.exit, "%q %v", c.prompt, c.args)
		require.Empty(t, got.stdout)
		require.True(t, strings.HasPrefix(got.stderr, "fakeagent: "), got.stderr)
		require.Contains(t, got.stderr, c.says)
	}
}

func TestHelpListsTheFlagsAndTheBehaviours(t *testing.T) {
	got := ask("", "-h")
	require.Equal(t, 0, got.exit)
	require.Empty(t, got.stderr)
	for _, b := range play.Behaviours() {
		require.Contains(t, got.stdout, strings.TrimSpace(b.Name+" "+b.Argument)+" ")
	}
	for _, name := range []string{"script", "memory", "try", "role", "task"} {
		require.Contains(t, got.stdout, "  -"+name+" ")
	}
}

// An answer that cannot be written is none, and the exit code must say so.
func TestAnAnswerThatCannotBeWrittenIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	exit := play.Main(nil, strings.NewReader(compiled(t, core.Worker, item)), w, &stderr)
	require.Equal(t, 1, exit)
	require.Contains(t, stderr.String(), "fakeagent: write the answer: ")
}

func TestAPromptThatCannotBeReadIsAFailure(t *testing.T) {
	var stdout, stderr bytes.Buffer
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, r.Close())
	require.Equal(t, 1, play.Main(nil, r, &stdout, &stderr))
	require.Contains(t, stderr.String(), "fakeagent: read the prompt: ")
}
