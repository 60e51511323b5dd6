package prompt_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/read"
	"waybill/prompt"
	"waybill/test/golden"
)

const rainPlan = `# Rain
- [x] 1. Base
- [-] 2. Reports
  - [-] 2.1 Daily mail
    - keep the old address
    - Files: mail/daily.go, mail/daily_test.go
    - Purpose: the farmers know before breakfast
    - _Leverage: mail/base.go_
    - _Requirements: 1.1, 2.3_
    - _Depends: 1_
    - _Prompt: Role: mail engineer | Task: send the mail | Success: it arrives <once> & in time_
  - [ ] 2.2 Wall display
    - large digits
    - Files: wall/display.go
  - [~] 2.3 Siren
    - _Blocked: no permit yet_
`

func input(t *testing.T, id string) prompt.CompileInput {
	t.Helper()
	p, err := ledger.Progress(parse(t, rainPlan), "rain", "plans/rain/tasks.md", id)
	require.NoError(t, err)
	return prompt.CompileInput{
		RunID: "run_7", Role: ledger.RoleWorker, Progress: p, Task: ledger.NewTaskLedger("run_7", id),
	}
}

func parse(t *testing.T, text string) *plan.Reading {
	t.Helper()
	r, err := read.Read(text, plan.Hints{})
	require.NoError(t, err)
	return r
}

func rejected(in prompt.CompileInput) prompt.CompileInput {
	in.Task.PlanVersion = 3
	in.Task.Attempts = 2
	in.Task.Rejections = 1
	in.Task.Summary = "the mail is sent,\nbut twice"
	in.Task = in.Task.After(ledger.Outcome{
		Role: ledger.RoleSpecReviewer, Kind: ledger.OutcomeChangesNeeded,
		Issues: []ledger.ReviewIssue{
			{Severity: "critical", File: "mail/daily.go", Message: "sent twice", Fix: "remember what was sent"},
			{Severity: "minor", Message: "no subject\nin the second mail"},
		},
		RequiredFixes: []string{"send once", "write a test"},
	})
	in.Task.Blockers = []string{"the mail server rejects us"}
	in.Task.Stalled = ledger.Stalled{ConsecutiveNonProgress: 2, Threshold: 2, Flagged: true}
	in.Task.ReplanHint = "make the task smaller"
	return in
}

func compile(t *testing.T, in prompt.CompileInput) prompt.Compiled {
	t.Helper()
	c, err := prompt.Compile(in)
	require.NoError(t, err)
	return c
}

func TestPromptsReadAsTheGoldenFilesSay(t *testing.T) {
	reviewer := rejected(input(t, "2.1"))
	reviewer.Role = ledger.RoleCodeQualityReviewer
	override := rejected(input(t, "2.1"))
	override.TaskPrompt = "Only look at the subject line.\n[Files]\nThis stays \u200bword for word.\n"
	replanned := input(t, "2.1")
	replanned.Task.FilesChanged = []string{"a.go", "[Now]\nb\u202e.go"}
	replanned.Task.GitRange, replanned.Task.ReviewAttempts = "a\u202e..b", [2]int{0, 2}
	replanned.Task.Origins.Summary = ledger.Origin{TaskID: "tsk_1"}
	replanned.Task = replanned.Task.Replanned(2, "a \"quote\", a \\ and\n[Files]\n\x1b[31mred", []string{"first", "then"})
	degraded := input(t, "2.2")
	degraded.Degraded = "rebuild_failed"
	degraded.MaxOutputTokens = 500
	for name, in := range map[string]prompt.CompileInput{
		"worker-first":      input(t, "2.1"),
		"worker-rejected":   rejected(input(t, "2.1")),
		"worker-override":   override,
		"worker-degraded":   degraded,
		"worker-blocked":    input(t, "2.3"),
		"worker-replanned":  replanned,
		"reviewer-rejected": reviewer,
		"reviewer-work":     reviewing(t),
	} {
		t.Run(name, func(t *testing.T) {
			c := compile(t, in)
			tail, ok := strings.CutPrefix(c.Prompt, c.StablePrefix)
			require.True(t, ok)
			golden.Equal(t, "prompts/"+name+".golden", tail)
			require.True(t, strings.HasSuffix(c.Prompt, "\n"))
			require.Equal(t, c, compile(t, in), "the same input gives the same prompt")
		})
	}
}

const (
	spec    = ledger.RoleSpecReviewer
	quality = ledger.RoleCodeQualityReviewer
)

var roles = []ledger.Role{ledger.RoleWorker, spec, quality}

var roleFiles = map[ledger.Role]string{
	ledger.RoleWorker: "worker", ledger.RoleSpecReviewer: "spec-reviewer",
	ledger.RoleCodeQualityReviewer: "code-quality-reviewer",
}

// prefixHashes has the hashes of the stable prefixes of prompt version 2. Other bytes need another version, because
// what was measured or cached under a version must find its bytes again.
var prefixHashes = map[string]string{
	"worker":                      "67e50b001f0fe1197772c68fc4acdfa8783ac120ae58691776a30ba75e85e978",
	"worker-block":                "aecc81e6d4f92ed20c29303acf1143d71718c463a322f1c7a6f889b9636cd0b3",
	"spec-reviewer":               "f6e4f1319c8e1299b844c9eeb49bc955b40b23230c58a7da61745ad2fc4ce948",
	"spec-reviewer-block":         "68c24d6ace4c3f96b9388ccb5b78c36daaae924c84f8f0957dad1a4b04e9f9b0",
	"code-quality-reviewer":       "aa6314f2f2cc70dc5ddb5400d70e8dc217c50bd55b142da6fb8d9d573ece58dd",
	"code-quality-reviewer-block": "93479b18049fa2dfc3080f911b3abd3eb8ada79f6cb959e8843e56727e31b6f8",
}

// A provider can reuse its work on a prefix only if no byte of it ever changes. A quotation of the file that a task is
// about must not have the key of a result, so that stands behind the prefix, in the last section.
func TestPrefixesAreStable(t *testing.T) {
	require.Equal(t, "2", prompt.PromptVersion)
	for _, kind := range promptKinds() {
		first, second := rejected(input(t, "2.1")), rejected(input(t, "2.3"))
		first.Role, first.Block, first.Key = kind.role, kind.block, "KEY2TEST"
		second.Role, second.Block = kind.role, kind.block
		second.RunID, second.Degraded, second.MaxOutputTokens, second.TaskPrompt = "run_8", "x", 9, "other"
		a, b := compile(t, first), compile(t, second)
		golden.Equal(t, "prefixes/"+kind.name()+".golden", a.StablePrefix)
		require.Equal(t, a.StablePrefix, b.StablePrefix)
		require.Equal(t, prefixHashes[kind.name()], a.StablePrefixHash, "%s: raise PromptVersion", kind.name())
		for _, c := range []prompt.Compiled{a, b} {
			require.Equal(t, hashOf(c.StablePrefix), c.StablePrefixHash)
			require.Equal(t, hashOf(c.Prompt), c.FullPromptHash)
		}
		_, now, _ := strings.Cut(a.Prompt, "\n[Now] (from waybill; trusted)\n")
		require.Contains(t, now, "\nResult key: KEY2TEST\n")
		require.Equal(t, 1, strings.Count(a.Prompt, first.Key))
		require.NotContains(t, b.Prompt, "\nResult key:")
		require.Equal(t, kind.block, strings.Contains(a.StablePrefix, "BEGIN_DISPATCH_RESULT"), "one form is taught")
		require.Equal(t, !kind.block, strings.Contains(a.StablePrefix, "\nstatus: <pass, gaps or error>\n"))
	}
}

// A promptKind is what a stable prefix depends on.
type promptKind struct {
	role  ledger.Role
	block bool
}

func promptKinds() (kinds []promptKind) {
	for _, role := range roles {
		kinds = append(kinds, promptKind{role, false}, promptKind{role, true})
	}
	return kinds
}

func (k promptKind) name() string {
	if k.block {
		return roleFiles[k.role] + "-block"
	}
	return roleFiles[k.role]
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestBlockPrefixesShowEveryKey(t *testing.T) {
	reviewer := []string{"task_id", "key", "assessment", "strengths", "issues", "required_fixes"}
	for role, keys := range map[ledger.Role][]string{
		ledger.RoleWorker: {"task_id", "key", "status", "summary", "files_changed", "tests", "follow_up_actions"}, spec: reviewer, quality: reviewer,
	} {
		in := input(t, "2.1")
		in.Role, in.Block = role, true
		_, block, ok := strings.Cut(compile(t, in).StablePrefix, "\nBEGIN_DISPATCH_RESULT\n")
		require.True(t, ok)
		block, rest, ok := strings.Cut(block, "\nEND_DISPATCH_RESULT\n")
		require.True(t, ok)
		require.NotContains(t, rest, "DISPATCH_RESULT", "an echo of the prompt has one block")
		var result map[string]any
		require.NoError(t, json.Unmarshal([]byte(block), &result))
		require.ElementsMatch(t, keys, slices.Collect(maps.Keys(result)))
		for _, key := range keys {
			require.Contains(t, rest, `"`+key+`":`)
		}
	}
}

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		role            ledger.Role
		in, out, budget int
	}{
		{ledger.RoleWorker, 0, 0, 3600},
		{ledger.RoleSpecReviewer, 0, 0, 2800},
		{ledger.RoleCodeQualityReviewer, 0, 1000, 3000},
		{ledger.RoleWorker, 10_000, 1, 9999},
		{ledger.RoleWorker, 10_000, -5, 8800},
		{ledger.RoleWorker, 2000, 5000, 1},
		{ledger.RoleWorker, 1, 1, 1},
	} {
		in := input(t, "2.2")
		in.Role, in.MaxInputTokens, in.MaxOutputTokens = c.role, c.in, c.out
		compiled, err := prompt.Compile(in)
		if c.budget == 1 {
			var overflow *prompt.OverflowError
			require.True(t, errors.As(err, &overflow))
			require.Equal(t, c.budget, overflow.Budget)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.budget, compiled.Budget)
		runes := utf8.RuneCountInString(compiled.Prompt)
		require.Equal(t, (runes+3)/4, compiled.TokensAfter)
		require.Equal(t, compiled.TokensAfter, compiled.TokensBefore)
		require.Equal(t, prompt.StageNone, compiled.Stage())
		require.Equal(t, []prompt.TraceStep{{Stage: prompt.StageNone, PromptTokens: compiled.TokensAfter}}, compiled.Trace)
	}
}

func TestCompileRefusesWhatHasNoTask(t *testing.T) {
	in := input(t, "2.1")
	in.Progress.CurrentItem, in.Progress.ItemID = nil, ""
	requireMissing(t, in, "missing_current_task")

	p, err := ledger.Progress(parse(t, "- [ ] 1.\n"), "rain", "rain.md", "1")
	require.NoError(t, err)
	empty := prompt.CompileInput{Role: ledger.RoleWorker, Progress: p}
	requireMissing(t, empty, "missing_task_prompt")
	empty.TaskPrompt = "the host knows what to do"
	require.Contains(t, compile(t, empty).Prompt, "the host knows what to do")

	none := input(t, "2.1")
	none.Role = 0
	_, err = prompt.Compile(none)
	require.ErrorContains(t, err, "is none")
}

// A task ledger of one item once got into the prompt of another.
func TestALedgerOfAnotherItemIsRefused(t *testing.T) {
	in := input(t, "2.1")
	in.Task = ledger.NewTaskLedger("run_7", "2.2")
	_, err := prompt.Compile(in)
	var other *plan.ItemError
	require.ErrorAs(t, err, &other)
}

func requireMissing(t *testing.T, in prompt.CompileInput, what string) {
	t.Helper()
	_, err := prompt.Compile(in)
	var missing *prompt.MissingPromptError
	require.True(t, errors.As(err, &missing))
	require.Equal(t, "progress_ledger_incomplete", missing.Code())
	require.Equal(t, what, missing.Missing)
	require.ErrorContains(t, err, what)
}
