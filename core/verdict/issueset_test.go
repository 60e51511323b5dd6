package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/verdict"
)

func found(issues ...verdict.Issue) verdict.Result { return verdict.Result{Issues: issues} }

func TestIssueSetIsTheSameHoweverItIsWritten(t *testing.T) {
	first := found(
		verdict.Issue{Severity: "minor", File: "face/hands.go:12", Message: "The minute hand  is too long", Fix: "cut it"},
		verdict.Issue{File: "face/dial.go#L3", Message: "no test for midnight (line 40)"},
	)
	again := found(
		verdict.Issue{File: "face/dial.go#L8", Message: "No test for\nmidnight (line 41)"},
		verdict.Issue{Severity: "critical", File: "Face/hands.go:130:4", Message: "the minute hand is too long."},
		verdict.Issue{File: "face/hands.go", Message: "the minute hand is too long"},
	)
	require.Equal(t, first.IssueSet(), again.IssueSet())
}

func TestIssueSetsThatDifferHaveOtherDigests(t *testing.T) {
	results := []verdict.Result{
		{},
		found(verdict.Issue{Message: "a"}),
		found(verdict.Issue{Message: "b"}),
		found(verdict.Issue{File: "a", Message: "b"}),
		found(verdict.Issue{Message: "a"}, verdict.Issue{Message: "b"}),
		found(verdict.Issue{Message: "http 404 is not handled"}),
		found(verdict.Issue{Message: "http 500 is not handled"}),
		{RequiredFixes: []string{"cut it"}},
		{RequiredFixes: []string{"paint it"}},
	}
	seen := map[string]int{}
	for i, r := range results {
		before, twice := seen[r.IssueSet()]
		require.False(t, twice, "results %d and %d have one digest", before, i)
		seen[r.IssueSet()] = i
	}
}
