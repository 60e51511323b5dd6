package prompt_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
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
