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
		verdict.Issue{File: "face/my dial.go#L3", Message: "no test for midnight (line 40)"},
	)
	again := found(
		verdict.Issue{File: "face/my dial.go#L8-L9", Message: "No test for\nmidnight (line 41)"},
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

func TestLinesThatMovedAreTheSameIssue(t *testing.T) {
	for _, c := range [][2]string{
		{"no test (line 12)", "no test (lines 3-4)"},
		{"no test", "no test, line 12."},
		{"face/hands.go:12:3: undefined", "face/hands.go:14:1: undefined"},
		{"see `hands.go:12`", "see hands.go:7-9"},
		{"see hands.go#L12", "see hands.go#L3-L9"},
		{"see face/Makefile:12", "see face/Makefile:14"},
		{"https://example.org/a/hands.go#L12 is wrong", "https://example.org/a/hands.go#L13 is wrong"},
	} {
		a, b := found(verdict.Issue{Message: c[0]}), found(verdict.Issue{Message: c[1]})
		require.Equal(t, a.IssueSet(), b.IssueSet(), c)
	}
	require.Equal(t, found(verdict.Issue{File: "Makefile:3"}).IssueSet(), found(verdict.Issue{File: "makefile"}).IssueSet())
}

// Numbers that say what is wrong were taken for lines, so that other findings were the same again.
func TestNumbersThatAreNoLinesTellIssuesApart(t *testing.T) {
	for _, c := range [][2]string{
		{"http:500 is not handled", "http:404 is not handled"},
		{"breaks #12", "breaks #13"},
		{"breaks hands.go#12", "breaks hands.go#13"},
		{"wrong at 12:30", "wrong at 12:45"},
		{"timeout:30 is ignored", "timeout:60 is ignored"},
		{"rfc:2119 is ignored", "rfc:822 is ignored"},
		{"http://localhost:80 is closed", "http://localhost:81 is closed"},
		{"10.0.0.1:80 is closed", "10.0.0.1:81 is closed"},
		{"room#l12 is dark", "room#l13 is dark"},
		{"on line 12 500 is answered", "on line 12 404 is answered"},
		{"the line is 12 long", "the line is 13 long"},
		{"in line 1-x", "in line 2-x"},
	} {
		a, b := found(verdict.Issue{Message: c[0]}), found(verdict.Issue{Message: c[1]})
		require.NotEqual(t, a.IssueSet(), b.IssueSet(), c)
	}
}
