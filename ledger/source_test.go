package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/read"
)

func TestSourceHashIsThatOfThePlanThatTheFactsCameFrom(t *testing.T) {
	reading, err := read.Read("- [ ] 1. Sow\n", plan.Hints{})
	require.NoError(t, err)
	progress, err := ledger.Progress(reading, "tasks.md", "tasks.md", "1")
	require.NoError(t, err)
	require.Equal(t, reading.Hash, ledger.SourceHash(ledger.ProgressFacts(progress)))

	require.Empty(t, ledger.SourceHash(nil))
	damaged := []ledger.Fact{{Key: "ledger.progress.source_fingerprint", Value: `{"hash":`}}
	require.Empty(t, ledger.SourceHash(damaged), "a damaged fact must lead to a new reading, not to an error")
}

func TestRenewReplacesWhatThePlanSaysAndNothingElse(t *testing.T) {
	before := []ledger.Fact{
		{Key: "ledger.progress.current_item", Value: "gone from the plan"},
		{Key: "ledger.task.summary", Value: "kept"},
		{Key: "theirs.note", Value: "kept although nobody here knows it"},
	}
	after := ledger.Renew(before, []ledger.Fact{{Key: "ledger.progress.totals", Value: "{}"}})
	require.Equal(t, []ledger.Fact{before[1], before[2], {Key: "ledger.progress.totals", Value: "{}"}}, after)
}
