package prompt_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan/criteria"
	"waybill/prompt"
	"waybill/test/golden"
)

// heavy is a prompt with much in it that may be cut.
func heavy(t *testing.T) prompt.CompileInput {
	in := rejected(input(t, "2.1"))
	in.Task.PlanSummary = strings.Repeat("first this, then that. ", 40)
	for range 40 {
		in.Task.FilesChanged = append(in.Task.FilesChanged, "mail/"+strings.Repeat("x", len(in.Task.FilesChanged)+1)+".go")
	}
	in.Task.PlanItems = []string{"this", "that"}
	return in
}

// With any budget there is a prompt that fits it and has all that is required, or an error.
func TestWhateverTheBudgetWhatIsRequiredIsInThePromptOrThereIsNone(t *testing.T) {
	start := situation{ledger.RoleWorker, "full", false, "heavy"}.input(t)
	prompts := eachPrompt(t, start)
	for budget := 1; budget <= prompts[0].TokensAfter; budget += 13 {
		in := start
		in.MaxInputTokens = in.MaxOutputTokens + budget
		c, err := prompt.Compile(in)
		i := slices.IndexFunc(prompts, func(p prompt.Compiled) bool { return p.TokensAfter <= budget })
		if i < 0 {
			requireOverflow(t, err, budget, prompts)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, prompts[i].Prompt, c.Prompt, "no budget gives other prompts than those of the stages")
	}
}

// Shortened deltas, reviewers and plans that cannot be read were not looked at: each could lose what is required.
func TestNoRoleLosesWhatItNeedsInAnyModeAndStage(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range situations(slices.Sorted(maps.Keys(burdens))...) {
		in := s.input(t)
		law := lawOf(t, &in)
		for _, c := range eachPrompt(t, in) {
			where := s.String() + " " + string(c.Stage())
			require.Empty(t, law.lost(&c), where)
			require.Equal(t, s.mode == "full", c.Packet.Mode == ledger.PacketFull, where)
			require.Equal(t, c.TokensBefore, c.Trace[0].PromptTokens)
			require.Equal(t, c.TokensAfter, c.Trace[len(c.Trace)-1].PromptTokens)
			require.True(t, slices.IsSortedFunc(c.Trace, func(a, b prompt.TraceStep) int { return b.PromptTokens - a.PromptTokens }))
			t.Run(where, func(t *testing.T) { requireAccountedFor(t, &in, &c) })
			seen[where] = true
		}
	}
	for _, s := range situations("heavy") {
		for _, stage := range []prompt.Stage{prompt.StageNone, prompt.StagePrune, prompt.StageShorten, prompt.StageEmergency} {
			if s.mode != "same" { // where there may be nothing to drop
				require.True(t, seen[s.String()+" "+string(stage)], "%s %s was not looked at", s, stage)
			}
		}
	}
}

func TestPromptsOverTheirBudgetReadAsTheGoldenFilesSay(t *testing.T) {
	in := heavy(t)
	in.MaxOutputTokens = 1
	in.Compaction.Context = []string{"the mail server is new"}
	fits := compile(t, in).TokensAfter
	for stage := prompt.StageNone; stage != prompt.StageEmergency; {
		in.MaxInputTokens = fits // one less than it takes
		c := compile(t, in)
		require.NotEqual(t, stage, c.Stage())
		stage, fits = c.Stage(), c.TokensAfter
		golden.Equal(t, "prompts/worker-"+string(stage)+".golden", strings.TrimPrefix(c.Prompt, c.StablePrefix))
	}
}

func TestTheCallerSteersTheCompaction(t *testing.T) {
	in := heavy(t)
	in.MaxOutputTokens, in.MaxInputTokens = 1, 751
	in.Compaction.Off = true
	_, err := prompt.Compile(in)
	var overflow *prompt.OverflowError
	require.True(t, errors.As(err, &overflow))
	require.Equal(t, "none", overflow.Stage)

	in.Compaction = prompt.Compaction{KeepPacket: true, PromptOverride: "Send it once."}
	c := compile(t, in)
	for _, step := range c.Trace {
		require.NotEqual(t, prompt.StagePrune, step.Stage)
	}
	require.Contains(t, c.Prompt, "[Task Prompt] (from host; trusted)\nSend it once.\n")
	require.NotContains(t, c.Prompt, "mail engineer")
	require.Contains(t, c.Omitted, prompt.Omission{What: "task_prompt", Why: "compaction.prompt_override takes its place"})

	in.MaxInputTokens = 0
	whole := compile(t, in)
	require.Contains(t, whole.Prompt, "mail engineer", "a prompt that fits is not touched")
	require.Equal(t, "compaction.prompt_override", whole.Omitted[0].What)
}

// How a failed attempt went is never cut; what a good one says of itself may be clipped.
func TestTheSummaryOfAnAttemptThatDidNotFailIsClipped(t *testing.T) {
	in := heavy(t)
	in.Task.Summary = strings.Repeat("é", 500)
	in.MaxOutputTokens, in.MaxInputTokens = 1, 1201
	require.Contains(t, compile(t, in).Prompt, "Summary: "+in.Task.Summary+"\n")
	in.Task.Reviews, in.Task.Blockers, in.Task.Stalled = [3]ledger.Review{}, nil, ledger.Stalled{}
	c := compile(t, in)
	require.NotContains(t, c.Prompt, "[Last Attempt]")
	require.Contains(t, c.Packet.Facts, ledger.Fact{Key: "ledger.task.summary", Value: strings.Repeat("é", 239) + "…"})
	require.Contains(t, c.Omitted, prompt.Omission{What: "ledger.task.summary", Why: "the last 261 of 500 characters"})
}

// Whoever can count better than four characters a token does so, for the budget as well.
func TestTokensAreCountedAsTheCallerDoes(t *testing.T) {
	in := heavy(t)
	in.Count = func(text string) int { return len(strings.Fields(text)) }
	c := compile(t, in)
	require.Equal(t, len(strings.Fields(c.Prompt)), c.TokensAfter)
	require.Equal(t, prompt.Tokens(utf8.RuneCountInString(c.Prompt)), c.Estimate)
	in.MaxOutputTokens, in.MaxInputTokens = 1, c.TokensAfter
	smaller := compile(t, in)
	require.Equal(t, prompt.StagePrune, smaller.Stage())
	require.Equal(t, c.TokensAfter, smaller.TokensBefore)
	require.Equal(t, len(strings.Fields(smaller.Prompt)), smaller.TokensAfter)
}

// A situation is what a prompt is asked for in.
type situation struct {
	role ledger.Role
	// mode is full, delta where something has changed since, or same where nothing has.
	mode     string
	degraded bool
	load     string
}

func (s situation) String() string {
	return fmt.Sprintf("%s %s degraded=%t %s", roleFiles[s.role], s.mode, s.degraded, s.load)
}

var modes = []string{"full", "delta", "same"}

// burdens are how much there is to say.
var burdens = map[string]func(*prompt.CompileInput){
	"first":  func(in *prompt.CompileInput) { in.Task = ledger.NewTaskLedger(in.RunID, in.Task.ItemID) },
	"clean":  approved,
	"usual":  func(*prompt.CompileInput) {},
	"heavy":  burden,
	"hosted": hosted,
}

// situations returns all that there are with these loads.
func situations(loads ...string) (list []situation) {
	for _, role := range roles {
		for _, mode := range modes {
			for _, degraded := range []bool{false, true} {
				for _, load := range loads {
					list = append(list, situation{role, mode, degraded, load})
				}
			}
		}
	}
	return list
}

// input returns an input in which there is all that a prompt can need, unless the load says otherwise.
func (s situation) input(t *testing.T) prompt.CompileInput {
	in := input(t, "2.1")
	in.Role, in.MaxOutputTokens = s.role, 1717
	in.Progress.CurrentItem.DependsOn = []string{"7.77"}
	if s.role != ledger.RoleWorker { // a worker is given none
		in.Criteria.Source = "plans/rain/requirements.md"
		in.Criteria.List = []criteria.Criterion{
			{Line: 1041, ID: "1.1", Text: "WHEN it is six THEN the post SHALL be on its way"},
			{Line: 1058, Text: "IF it hails\nTHEN the farmer SHALL hear of it"},
		}
	}
	if s.degraded {
		in.Degraded = "rebuild_failed"
	}
	early := in.Task.Counted(ledger.Counts{Rejections: 4})
	early.Summary, early.PlanSummary, early.FilesChanged = "nothing yet", "begin", []string{"mail/early.go"}
	in.Task = struggled(in.Task)
	burdens[s.load](&in)
	before := in
	switch s.mode {
	case "delta":
		before.Task, before.Progress.ActiveItemID, before.Progress.Plan = early, "1", "before"
		fallthrough
	case "same":
		before.MaxInputTokens = 1 << 20
		in.Since = compile(t, before).Packet.Cursor
	}
	return in
}

// struggled returns a ledger after much that went wrong.
func struggled(task ledger.TaskLedger) ledger.TaskLedger {
	for _, o := range []ledger.Outcome{
		{Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: "sent", GitRange: "a1b2c3d..e4f5a6b", FilesChanged: []string{"mail/daily.go", "mail/wire.go"}},
		{
			Role: spec, Kind: ledger.OutcomeChangesNeeded, RequiredFixes: []string{"send once", "write a\ntest"},
			Issues: []ledger.ReviewIssue{
				{Severity: "critical", File: "mail/daily.go", Message: "sent twice", Fix: "remember what was sent"},
				{Severity: "minor", Message: "no subject\nin the second mail"},
			},
		},
		{
			Role: quality, Kind: ledger.OutcomeChangesNeeded, RequiredFixes: []string{"close the socket"},
			Issues: []ledger.ReviewIssue{{Severity: "important", File: "mail/wire.go", Message: "the socket leaks", Fix: "defer its end"}},
		},
		{Role: ledger.RoleWorker, Kind: ledger.OutcomeStuck, Summary: "the mail is sent,\nbut late", FollowUps: []string{"the mail server rejects us"}},
	} {
		task = task.After(o)
	}
	return task.Checked("test", ledger.Demand("make test", "exit status 2", "daily_test.go:7: sent twice")).Replanned(3, "in two steps", []string{"connect", "send"}).Counted(ledger.Counts{
		Stalled:    ledger.Stalled{ConsecutiveNonProgress: 2, Threshold: 2, Flagged: true},
		ReviewLoop: ledger.ReviewLoop{Count: 1, Threshold: 2}, Rejections: 2,
	})
}

// approved is that nobody wants anything any more, after a summary that is longer than it must be.
func approved(in *prompt.CompileInput) {
	in.Task = in.Task.After(ledger.Outcome{Role: ledger.RoleWorker, Kind: ledger.OutcomeCompleted, Summary: strings.Repeat("well done ", 90)})
	for _, role := range []ledger.Role{spec, quality} {
		in.Task = in.Task.After(ledger.Outcome{Role: role, Kind: ledger.OutcomeApproved})
	}
	in.Task = in.Task.Counted(ledger.Counts{})
}

// burden adds much of everything: to what is never cut, and to what may be.
func burden(in *prompt.CompileInput) {
	it := in.Progress.CurrentItem
	it.BlockedReason = "no postage"
	it.Purpose = strings.Repeat("so that the farmers know what the day is like. ", 8)
	it.Leverage = strings.Repeat("mail/base.go has most of it. ", 8)
	it.Below = []string{"2.1.1 The first half (pending)", "2.1.2 " + strings.Repeat("The second half ", 8) + "(completed)"}
	in.Task.Summary = strings.Repeat("é went wrong, and so did this. ", 10)
	in.Task.PlanSummary = strings.Repeat("first this, then that. ", 20)
	for i := range 70 {
		in.Task.FilesChanged = append(in.Task.FilesChanged, fmt.Sprintf("mail/part%02d.go", i))
	}
	for i := range 4 {
		it.Files = append(it.Files, fmt.Sprintf("wire/piece%02d.go", i))
		it.Requirements = append(it.Requirements, fmt.Sprintf("9.%02d", i))
		it.DependsOn = append(it.DependsOn, fmt.Sprintf("7.%02d", i))
		it.Details = append(it.Details, fmt.Sprintf("detail %02d of it", i))
		in.Task.PlanItems = append(in.Task.PlanItems, fmt.Sprintf("step %02d of it", i))
		in.Task.Blockers = append(in.Task.Blockers, fmt.Sprintf("stone %02d in the way", i))
		for k := range in.Task.Reviews {
			r := &in.Task.Reviews[k]
			r.RequiredFixes = append(r.RequiredFixes, fmt.Sprintf("demand %02d of review %d", i, k))
			if k == 2 {
				continue // failed checks have demands alone
			}
			r.Issues = append(r.Issues, ledger.ReviewIssue{
				Severity: "minor", File: fmt.Sprintf("wire/file%02d.go", i),
				Message: fmt.Sprintf("fault %02d of review %d", i, k), Fix: fmt.Sprintf("cure %02d of review %d", i, k),
			})
		}
	}
	for i := range in.Criteria.List {
		in.Criteria.List[i].Text += strings.Repeat(", and it SHALL go on to do so", 8)
	}
}

// hosted is that the host has words of its own, for the prompt as it is and for one that is shortened.
func hosted(in *prompt.CompileInput) {
	in.TaskPrompt = strings.Repeat("Look at the subject line, and at what stands below it. ", 9) + "Then stop."
	in.Compaction = prompt.Compaction{PromptOverride: "Look at the subject line.", Context: []string{"the mail server\nis new"}}
}

// eachPrompt returns every prompt that there is for an input, whatever the budget: one for each stage that makes it
// smaller. What a prompt takes is the smallest budget that gives it, and one less returns the next, or none.
func eachPrompt(t *testing.T, in prompt.CompileInput) (prompts []prompt.Compiled) {
	t.Helper()
	const usualOutput = 1200
	output, budget := in.MaxOutputTokens, 1<<20
	if output == 0 {
		output = usualOutput
	}
	for {
		in.MaxInputTokens = output + budget
		c, err := prompt.Compile(in)
		if err != nil {
			requireOverflow(t, err, budget, prompts)
			return prompts
		}
		require.LessOrEqual(t, c.TokensAfter, budget)
		prompts, budget = append(prompts, c), c.TokensAfter-1
	}
}

// requireOverflow wants the error of a budget for which even the smallest prompt is too large.
func requireOverflow(t *testing.T, err error, budget int, prompts []prompt.Compiled) {
	t.Helper()
	var overflow *prompt.OverflowError
	require.True(t, errors.As(err, &overflow))
	require.Equal(t, "dispatch_prompt_overflow_terminal", overflow.Code())
	smallest := prompts[len(prompts)-1]
	require.Equal(t, prompt.OverflowError{
		Estimate: smallest.TokensAfter, Budget: budget, Role: overflow.Role, Stage: string(smallest.Stage()),
	}, *overflow)
}
