package prompt_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/criteria"
	"waybill/prompt"
	"waybill/test/golden"
	"waybill/test/slow"
)

// An attack is a text that pretends to be something else, or would hide or carry something.
type attack struct{ category, name, text string }

// attacks reads testdata/attacks: a file for each category with one quoted text a line, so that invisible characters
// can be seen.
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

// The golden files say what a prompt makes of each attack, and how many changes that takes.
func TestAttacksReadAsTheGoldenFilesSay(t *testing.T) {
	results := map[string]string{}
	for _, a := range attacks(t) {
		got, neutralised := promptOf(t, a.text)
		if a.category == "plain-words" { // they are harmless where they stand
			require.Equal(t, a.text, got)
			continue
		}
		results[a.category] += fmt.Sprintf("%s: %d %q\n", a.name, neutralised, got)
	}
	for category, result := range results {
		golden.Equal(t, "attacks/"+category+".golden", result)
	}
}

// harmless stands in each place before an attack does.
const harmless = "harmlesswords"

// A place is where an untrusted text enters a prompt.
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
		in.Criteria.List = []criteria.Criterion{{Text: text}, {Text: "b"}}
	}},
	{"source path", func(in *prompt.CompileInput, text string) { in.Progress.SourcePath = text }},
	{"plan", func(in *prompt.CompileInput, text string) { in.Progress.Plan = text }},
	{"run id", func(in *prompt.CompileInput, text string) { in.RunID = text }},
	{"degraded reason", func(in *prompt.CompileInput, text string) { in.Degraded = text }},
}

// attacked returns the part behind the prefix of a prompt with a text in a place.
func attacked(t *testing.T, p place, role ledger.Role, text string) string {
	t.Helper()
	in := rejected(input(t, "2.1"))
	in.Role, in.MaxInputTokens = role, 1<<20
	p.put(&in, text)
	c := compile(t, in)
	return strings.TrimPrefix(c.Prompt, c.StablePrefix)
}

// No attack adds, changes or hides a section, wherever it stands in a prompt.
func TestNoAttackForgesASection(t *testing.T) {
	list := attacks(t)
	for i, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			role := roles[i%len(roles)]
			before := attacked(t, p, role, harmless)
			require.Contains(t, before, harmless)
			for _, a := range some(list, i) {
				requireSections(t, before, attacked(t, p, role, a.text), a.category+", "+a.name)
			}
		})
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

// requireSections asserts that a prompt has the sections of the one before it, and those without the harmless words
// unchanged. A Markdown reader finds no section in code or HTML, and no image from elsewhere.
func requireSections(t *testing.T, before, prompt, of string) {
	t.Helper()
	want, got := promptHead.Split(before, -1), promptHead.Split(prompt, -1)
	require.Equal(t, promptHead.FindAllString(before, -1), promptHead.FindAllString(prompt, -1), "%s\n%.3000q", of, prompt)
	for i := range want {
		if !strings.Contains(want[i], harmless) {
			require.Equal(t, want[i], got[i], of)
		}
	}
	require.Empty(t, hidden(prompt), "%s\n%.3000q", of, prompt)
}

// hidden reads the prompt as Markdown, and returns the sections in code or HTML and the images from elsewhere.
func hidden(prompt string) (problems []string) {
	source, heads := []byte(prompt), promptHead.FindAllStringIndex(prompt, -1)
	inside := func(lines *text.Segments) {
		for i := range lines.Len() {
			if part := lines.At(i); slices.ContainsFunc(heads, func(h []int) bool { return part.Start <= h[0] && h[0] < part.Stop }) {
				problems = append(problems, fmt.Sprintf("hidden %.40q", part.Value(source)))
			}
		}
	}
	loaded := func(html string) {
		if loads.MatchString(html) {
			problems = append(problems, fmt.Sprintf("loads %.40q", html))
		}
	}
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			inside(n.Lines())
		case *ast.HTMLBlock:
			inside(n.Lines())
			loaded(string(n.Lines().Value(source)))
		case *ast.RawHTML:
			loaded(string(n.Segments.Value(source)))
		case *ast.Image:
			if elsewhere.Match(n.Destination) {
				problems = append(problems, fmt.Sprintf("image %q", n.Destination))
			}
		}
		return ast.WalkContinue, nil
	})
	return problems
}

// elsewhere matches an address with a scheme or a host. A colon behind the first slash is part of a path.
var elsewhere = regexp.MustCompile(`^[^/?#]*:|^//`)

var loads = regexp.MustCompile(`(?is)<(img|image|iframe|embed|object|video|audio|source)\s.*(//|http)`)

// No text hides the sections behind it, or loads an image.
func FuzzNeutralisedTextHidesNothing(f *testing.F) {
	for _, a := range some(attacks(f), 0) {
		f.Add(a.text)
	}
	for _, text := range clean {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow.InTime(t)
		text = strings.ReplaceAll(text, harmless, "")
		for _, p := range places {
			switch p.name {
			case "item prompt", "item details", "task summary", "task fixes", "issue fix":
				before := attacked(t, p, ledger.RoleWorker, harmless)
				requireSections(t, before, attacked(t, p, ledger.RoleWorker, "x"+text), p.name)
				requireSections(t, before, attacked(t, p, ledger.RoleWorker, text+"x"), p.name)
			}
		}
	})
}
