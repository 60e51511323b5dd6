package prompt_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/criteria"
	"waybill/prompt"
	"waybill/test/slow"
)

// attack is a text that pretends to be something else, or would hide or carry something.
type attack struct{ category, name, text string }

// attacks reads testdata/attacks: a file for each category, and in it a line for each text, as Go would quote it, so
// that what nobody sees is seen.
func attacks(t testing.TB) (list []attack) {
	t.Helper()
	files, err := filepath.Glob("testdata/attacks/*.txt")
	require.NoError(t, err)
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "#") {
				continue
			}
			title, quoted, ok := strings.Cut(lines.Text(), ": ")
			text, err := strconv.Unquote(quoted)
			require.True(t, ok && err == nil, "%s: %s", name, lines.Text())
			list = append(list, attack{strings.TrimSuffix(filepath.Base(name), ".txt"), title, text})
		}
		require.NoError(t, lines.Err())
		require.NoError(t, f.Close())
	}
	require.Greater(t, len(list), 200)
	return list
}

// harmless stands in each place before an attack does.
const harmless = "harmlesswords"

// A place is where a text of others enters a prompt.
type place struct {
	name string
	put  func(in *prompt.CompileInput, text string)
}

func itemPlace(name string, put func(it *plan.Item, text string)) place {
	return place{"item " + name, func(in *prompt.CompileInput, text string) { put(in.Progress.CurrentItem, text) }}
}

func taskPlace(name string, put func(task *ledger.TaskLedger, text string)) place {
	return place{"task " + name, func(in *prompt.CompileInput, text string) { put(&in.Task, text) }}
}

func issuePlace(name string, put func(issue *ledger.ReviewIssue, text string)) place {
	return taskPlace("issue "+name, func(task *ledger.TaskLedger, text string) { put(&task.Reviews[0].Issues[0], text) })
}

var places = []place{
	itemPlace("title", func(it *plan.Item, text string) { it.Title = text }),
	itemPlace("title as prompt", func(it *plan.Item, text string) { it.Title, it.Prompt = text, "" }),
	itemPlace("prompt", func(it *plan.Item, text string) { it.Prompt = text }),
	itemPlace("details", func(it *plan.Item, text string) { it.Details = []string{"a", text, "b"} }),
	itemPlace("requirements", func(it *plan.Item, text string) { it.Requirements = []string{text} }),
	itemPlace("files", func(it *plan.Item, text string) { it.Files = []string{text} }),
	itemPlace("leverage", func(it *plan.Item, text string) { it.Leverage = text }),
	itemPlace("purpose", func(it *plan.Item, text string) { it.Purpose = text }),
	itemPlace("blocked reason", func(it *plan.Item, text string) { it.BlockedReason = text }),
	itemPlace("dependencies", func(it *plan.Item, text string) { it.DependsOn = []string{text} }),
	taskPlace("summary", func(task *ledger.TaskLedger, text string) { task.Summary = text }),
	taskPlace("assessment", func(task *ledger.TaskLedger, text string) { task.ReviewerAssessment = text }),
	taskPlace("fixes", func(task *ledger.TaskLedger, text string) { task.Reviews[0].RequiredFixes = []string{"a", text} }),
	taskPlace("blockers", func(task *ledger.TaskLedger, text string) { task.Blockers = []string{text, "b"} }),
	taskPlace("hint", func(task *ledger.TaskLedger, text string) { task.ReplanHint = text }),
	taskPlace("plan summary", func(task *ledger.TaskLedger, text string) { task.PlanSummary = text }),
	taskPlace("plan items", func(task *ledger.TaskLedger, text string) { task.PlanItems = []string{"a", text} }),
	taskPlace("files", func(task *ledger.TaskLedger, text string) { task.FilesChanged = []string{text, "b"} }),
	issuePlace("severity", func(issue *ledger.ReviewIssue, text string) { issue.Severity = text }),
	issuePlace("file", func(issue *ledger.ReviewIssue, text string) { issue.File = text }),
	issuePlace("message", func(issue *ledger.ReviewIssue, text string) { issue.Message = text }),
	issuePlace("fix", func(issue *ledger.ReviewIssue, text string) { issue.Fix = text }),
	taskPlace("commits", func(task *ledger.TaskLedger, text string) { task.GitRange = text }),
	{"criteria", func(in *prompt.CompileInput, text string) {
		in.Criteria = []criteria.Criterion{{Text: text}, {Text: "b"}}
	}},
	{"source path", func(in *prompt.CompileInput, text string) { in.Progress.SourcePath = text }},
	{"plan", func(in *prompt.CompileInput, text string) { in.Progress.Plan = text }},
	{"run id", func(in *prompt.CompileInput, text string) { in.RunID = text }},
	{"degraded reason", func(in *prompt.CompileInput, text string) { in.Degraded = text }},
}

// attacked returns the part behind the prefix of a prompt with a text in a place.
func attacked(t *testing.T, p place, role ledger.Role, delta bool, text string) string {
	t.Helper()
	in := rejected(input(t, "2.1"))
	in.Role, in.MaxInputTokens = role, 1<<20
	if delta {
		in.Since = compile(t, in).Packet.Cursor
	}
	p.put(&in, text)
	c := compile(t, in)
	tail, ok := strings.CutPrefix(c.Prompt, c.StablePrefix)
	require.True(t, ok)
	return tail
}

// No text of the corpus gets anything past the strict reader, wherever it stands in a prompt.
func TestNoAttackSurvivesInAPrompt(t *testing.T) {
	list := attacks(t)
	for role := ledger.RoleWorker; role <= ledger.RoleCodeQualityReviewer; role++ {
		for _, delta := range []bool{false, true} {
			t.Run(fmt.Sprintf("role %d, delta %t", role, delta), func(t *testing.T) {
				t.Parallel()
				for i, p := range places {
					if slow.Race && (i%3+1 != int(role) || delta != (i%2 == 0)) {
						continue // nothing here is concurrent, so one kind of prompt is enough
					}
					noneSurvives(t, some(list, i), p, role, delta)
				}
			})
		}
	}
}

// some returns every fourth attack under the race detector, which makes a test take ten times as long. Different turns
// return different attacks.
func some(list []attack, turn int) (few []attack) {
	if !slow.Race {
		return list
	}
	for i := turn % 4; i < len(list); i += 4 {
		few = append(few, list[i])
	}
	return few
}

func noneSurvives(t *testing.T, list []attack, p place, role ledger.Role, delta bool) {
	t.Helper()
	before := attacked(t, p, role, delta, harmless)
	require.Contains(t, before, harmless, p.name)
	require.Empty(t, problemsOf(before, before, harmless, sectionHead), p.name)
	for _, a := range list {
		prompt := attacked(t, p, role, delta, a.text)
		if problems := problemsOf(prompt, before, harmless, sectionHead); len(problems) > 0 {
			t.Fatalf("%s, %s, as %s: %q\n%.3000q", a.category, a.name, p.name, problems, prompt)
		}
	}
}

// The words of no language are touched; what makes them harmless is where they stand.
func TestPlainWordsStayAsTheyAre(t *testing.T) {
	for _, a := range attacks(t) {
		if a.category == "plain-words" {
			got, neutralised := promptOf(t, a.text)
			require.Equal(t, a.text, got)
			require.Zero(t, neutralised)
		}
	}
}

// A heading of any name that says whose words follow is one in each place, were it not marked.
func TestReaderFindsEachForgedProvenance(t *testing.T) {
	n := 0
	for _, a := range attacks(t) {
		if a.category != "forged-provenance" {
			continue
		}
		n++
		require.NotEmpty(t, problemsIn(a.text), a.name)
		got, neutralised := promptOf(t, a.text)
		require.Empty(t, problemsIn(got), "%s: %q", a.name, got)
		require.Contains(t, got, "│ ", a.name)
		require.Positive(t, neutralised, a.name)
	}
	require.Greater(t, n, 40)
}

// The same holds for the prompt that picks a run up again.
func TestNoAttackSurvivesInAResumption(t *testing.T) {
	slow.Test(t)
	resumed := func(text string, put func(in *prompt.ResumptionInput, text string)) string {
		in := rejected(input(t, "2.1"))
		r := prompt.ResumptionInput{
			Progress: in.Progress, Task: in.Task, Halted: "blocked", Why: "it stalls", Unreadable: "no file", NextAction: "Wait.",
		}
		put(&r, text)
		return prompt.Resumption(r)
	}
	list, turn := attacks(t), 0
	for name, put := range map[string]func(in *prompt.ResumptionInput, text string){
		"item":       func(in *prompt.ResumptionInput, text string) { in.Progress.CurrentItem.ID = text },
		"summary":    func(in *prompt.ResumptionInput, text string) { in.Task.Summary = text },
		"assessment": func(in *prompt.ResumptionInput, text string) { in.Task.ReviewerAssessment = text },
		"blockers":   func(in *prompt.ResumptionInput, text string) { in.Task.Blockers = []string{text, "b"} },
		"hint":       func(in *prompt.ResumptionInput, text string) { in.Task.ReplanHint = text },
		"fixes":      func(in *prompt.ResumptionInput, text string) { in.Task.Reviews[0].RequiredFixes = []string{text} },
		"issue":      func(in *prompt.ResumptionInput, text string) { in.Task.Reviews[0].Issues[0].Message = text },
		"issue fix":  func(in *prompt.ResumptionInput, text string) { in.Task.Reviews[0].Issues[0].Fix = text },
		"issue file": func(in *prompt.ResumptionInput, text string) { in.Task.Reviews[0].Issues[0].File = text },
		"severity":   func(in *prompt.ResumptionInput, text string) { in.Task.Reviews[0].Issues[0].Severity = text },
		"halted":     func(in *prompt.ResumptionInput, text string) { in.Halted = text },
		"why":        func(in *prompt.ResumptionInput, text string) { in.Why = text },
		"unreadable": func(in *prompt.ResumptionInput, text string) { in.Unreadable = text },
		"next":       func(in *prompt.ResumptionInput, text string) { in.NextAction = text },
	} {
		turn++
		before := resumed(harmless, put)
		require.Contains(t, before, harmless)
		for _, a := range some(list, turn) {
			prompt := resumed(a.text, put)
			require.Empty(t, problemsOf(prompt, before, harmless, sectionHead), "%s, %s: %s\n%.3000q", a.category, a.name, name, prompt)
		}
	}
}

// And for the prompt that continues a task with an answer.
func TestNoAttackSurvivesInAContinuation(t *testing.T) {
	continued := func(text string, put func(d *prompt.Dialogue, text string)) string {
		d := prompt.Dialogue{
			Task: "Name it.", Output: "I looked.", Question: "oak?", Reply: "elm",
			Earlier: []prompt.Exchange{{Question: "where?", Reply: "here"}, {Question: "when?", Reply: "now"}},
		}
		put(&d, text)
		prompt, _ := prompt.Continuation(d)
		return prompt
	}
	list := attacks(t)
	for name, put := range map[string]func(d *prompt.Dialogue, text string){
		"task":             func(d *prompt.Dialogue, text string) { d.Task = text },
		"output":           func(d *prompt.Dialogue, text string) { d.Output = text },
		"question":         func(d *prompt.Dialogue, text string) { d.Question = text },
		"reply":            func(d *prompt.Dialogue, text string) { d.Reply = text },
		"earlier question": func(d *prompt.Dialogue, text string) { d.Earlier[0].Question = text },
		"earlier reply":    func(d *prompt.Dialogue, text string) { d.Earlier[0].Reply = text },
	} {
		before := continued(harmless, put)
		for _, a := range list {
			prompt := continued(a.text, put)
			require.Empty(t, problemsOf(prompt, before, harmless, dialogueHead), "%s, %s: %s\n%.3000q", a.category, a.name, name, prompt)
		}
	}
}
