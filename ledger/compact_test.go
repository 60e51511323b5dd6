package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/ledger"
)

// required are the texts that a prompt for item 2.1 of the rain plan has to have, whatever it costs.
var required = []string{
	"Task id: 2.1\n", "Title: Daily mail\n",
	"Role: mail engineer | Task: send the mail | Success: it arrives <once> & in time",
	"- keep the old address\n", "- send once\n", "- write a test\n", "- the mail server rejects us\n",
	"Summary: the mail is sent,\n  but twice\n", "Assessment: needs_changes\n",
	"- [critical] mail/daily.go: sent twice\n  fix: remember what was sent\n", "no subject\n    in the second mail",
	"[Replan Hint] (from waybill; trusted)\nmake the task smaller\n", "Max output tokens: ",
}

// missing gives the required texts that a prompt does not have, and the contract if that is not its beginning.
func missing(prompt, contract string) (lost []string) {
	tail, ok := strings.CutPrefix(prompt, contract)
	if !ok {
		lost = append(lost, "contract")
	}
	for _, text := range required {
		if !strings.Contains(tail, text) {
			lost = append(lost, text)
		}
	}
	return lost
}

// heavy is a prompt with much in it that may be cut.
func heavy(t *testing.T) ledger.CompileInput {
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
	start := heavy(t)
	full := compile(t, start)
	stages := map[ledger.Stage]bool{}
	for budget := 1; budget < 1500; budget += 7 {
		in := start
		in.MaxOutputTokens, in.MaxInputTokens = 1, budget+1
		c, err := ledger.Compile(in)
		if err != nil {
			var overflow *ledger.OverflowError
			require.True(t, errors.As(err, &overflow))
			require.Equal(t, "dispatch_prompt_overflow_terminal", overflow.Code())
			require.Equal(t, budget, overflow.Budget)
			require.Equal(t, "emergency", overflow.Stage)
			require.Greater(t, overflow.Estimate, budget)
			continue
		}
		require.LessOrEqual(t, c.TokensAfter, budget)
		require.Empty(t, missing(c.Prompt, full.StablePrefix))
		require.Equal(t, c.TokensBefore, c.Trace[0].PromptTokens)
		require.Equal(t, ledger.TraceStep{Stage: c.Stage, PromptTokens: c.TokensAfter}, c.Trace[len(c.Trace)-1])
		require.True(t, slices.IsSortedFunc(c.Trace, func(a, b ledger.TraceStep) int { return b.PromptTokens - a.PromptTokens }))
		require.Equal(t, c.Stage == ledger.StageNone, len(c.Omitted) == 0)
		requireAccountedFor(t, full.Packet, c)
		stages[c.Stage] = true
	}
	require.Len(t, stages, 4, "every stage was needed for some budget")
}

// requireAccountedFor wants each fact of the full packet in the other one as it is, or among what was left out.
func requireAccountedFor(t *testing.T, full ledger.Packet, c ledger.Compiled) {
	t.Helper()
	for _, f := range full.Facts {
		said := slices.ContainsFunc(c.Omitted, func(o ledger.Omission) bool { return o.What == f.Key && o.Why != "" })
		require.NotEqual(t, slices.Contains(c.Packet.Facts, f), said, f.Key)
	}
	for i, o := range c.Omitted {
		require.False(t, slices.ContainsFunc(c.Omitted[:i], func(p ledger.Omission) bool { return p.What == o.What }), "%s twice", o.What)
	}
}

// The law above finds each required text that is missing.
func TestTheLawMissesEachRequiredText(t *testing.T) {
	c := compile(t, heavy(t))
	require.Empty(t, missing(c.Prompt, c.StablePrefix))
	for _, text := range required {
		require.Equal(t, []string{text}, missing(strings.Replace(c.Prompt, text, "\n", 1), c.StablePrefix))
	}
	require.Equal(t, []string{"contract"}, missing(strings.TrimPrefix(c.Prompt, c.StablePrefix), c.StablePrefix))
}

func TestPromptsOverTheirBudgetReadAsTheGoldenFilesSay(t *testing.T) {
	in := heavy(t)
	in.MaxOutputTokens = 1
	in.Compaction.Context = []string{"the mail server is new"}
	fits := compile(t, in).TokensAfter
	for stage := ledger.StageNone; stage != ledger.StageEmergency; {
		in.MaxInputTokens = fits // one less than it takes
		c := compile(t, in)
		require.NotEqual(t, stage, c.Stage)
		stage, fits = c.Stage, c.TokensAfter
		golden(t, "prompts/worker-"+string(stage)+".golden", strings.TrimPrefix(c.Prompt, c.StablePrefix))
	}
}

func TestTheCallerSteersTheCompaction(t *testing.T) {
	in := heavy(t)
	in.MaxOutputTokens, in.MaxInputTokens = 1, 751
	in.Compaction.Off = true
	_, err := ledger.Compile(in)
	var overflow *ledger.OverflowError
	require.True(t, errors.As(err, &overflow))
	require.Equal(t, "none", overflow.Stage)

	in.Compaction = ledger.Compaction{KeepPacket: true, PromptOverride: "Send it once."}
	c := compile(t, in)
	for _, step := range c.Trace {
		require.NotEqual(t, ledger.StagePrune, step.Stage)
	}
	require.Contains(t, c.Prompt, "[Task Prompt] (from host; trusted)\nSend it once.\n")
	require.NotContains(t, c.Prompt, "mail engineer")
	require.Contains(t, c.Omitted, ledger.Omission{What: "task_prompt", Why: "compaction.prompt_override takes its place"})

	in.MaxInputTokens = 0
	whole := compile(t, in)
	require.Contains(t, whole.Prompt, "mail engineer", "a prompt that fits is not touched")
	require.Equal(t, "compaction.prompt_override", whole.Omitted[0].What)
}

// What was cut from a packet, the agent was not told: later deltas do not count on it.
func TestDeltasAddUpAlsoWherePacketsWereCut(t *testing.T) {
	start := heavy(t)
	rapid.Check(t, func(t *rapid.T) {
		in := start
		known, since := map[string]string{}, ""
		for range rapid.IntRange(1, 12).Draw(t, "calls") {
			for range rapid.IntRange(0, 3).Draw(t, "events") {
				evolve(t, &in)
			}
			in.Since, in.MaxOutputTokens = since, 1
			in.MaxInputTokens = rapid.SampledFrom([]int{5000, 800, 780, 680}).Draw(t, "budget")
			c, err := ledger.Compile(in)
			if err != nil {
				continue
			}
			next := fold(known, c.Packet)
			if c.Stage == ledger.StageNone {
				whole := in
				whole.Since, whole.MaxInputTokens = "", 0
				full, err := ledger.Compile(whole)
				require.NoError(t, err)
				require.Equal(t, fold(nil, full.Packet), next)
			}
			if rapid.Bool().Draw(t, "arrives") {
				known, since = next, c.Packet.Cursor
			}
		}
	})
}

// How a failed attempt went is never cut; what a good one says of itself may be clipped.
func TestTheSummaryOfAnAttemptThatDidNotFailIsClipped(t *testing.T) {
	in := heavy(t)
	in.Task.Summary = strings.Repeat("é", 500)
	in.MaxOutputTokens, in.MaxInputTokens = 1, 1201
	require.Contains(t, compile(t, in).Prompt, "Summary: "+in.Task.Summary+"\n")
	in.Task.Reviews, in.Task.Blockers, in.Task.Stalled = [2]ledger.Review{}, nil, ledger.Stalled{}
	c := compile(t, in)
	require.NotContains(t, c.Prompt, "[Last Attempt]")
	require.Contains(t, c.Packet.Facts, ledger.Fact{Key: "ledger.task.summary", Value: strings.Repeat("é", 239) + "…"})
	require.Contains(t, c.Omitted, ledger.Omission{What: "ledger.task.summary", Why: "the last 261 of 500 characters"})
}

// Whoever can count better than four characters a token does so, for the budget as well.
func TestTokensAreCountedAsTheCallerDoes(t *testing.T) {
	in := heavy(t)
	in.Count = func(text string) int { return len(strings.Fields(text)) }
	c := compile(t, in)
	require.Equal(t, len(strings.Fields(c.Prompt)), c.TokensAfter)
	require.Equal(t, ledger.Tokens(utf8.RuneCountInString(c.Prompt)), c.Estimate)
	in.MaxOutputTokens, in.MaxInputTokens = 1, c.TokensAfter
	smaller := compile(t, in)
	require.Equal(t, ledger.StagePrune, smaller.Stage)
	require.Equal(t, c.TokensAfter, smaller.TokensBefore)
	require.Equal(t, len(strings.Fields(smaller.Prompt)), smaller.TokensAfter)
}
