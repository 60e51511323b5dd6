package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/test/golden"
)

func TestAcceptanceMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("What a result of a role (first column) with a status word (second) must have to count. What it may\nhave besides is in brackets. A legacy statement has no fields.\n")
	for _, g := range []verdict.Grammar{verdict.V2, verdict.JSONBlock} {
		fmt.Fprintf(&b, "\n%s\n", g)
		for _, rule := range verdict.Matrix() {
			if rule.Grammar == g {
				fmt.Fprintf(&b, "%-22s %-14s is %-6s needs %s", rule.Role, rule.Status, rule.Verdict, strings.Join(rule.Required, " "))
				if len(rule.Optional) > 0 {
					fmt.Fprintf(&b, " [%s]", strings.Join(rule.Optional, " "))
				}
				b.WriteByte('\n')
			}
		}
	}
	golden.Equal(t, "matrix.golden", b.String())
}

// minimal returns, for each row of the matrix, a result with only the required parts.
func minimal(rule verdict.Rule) verdict.Result {
	r := verdict.Result{Role: rule.Role, TaskID: "2.1", Status: rule.Status}
	if rule.Grammar == verdict.V2 && slices.Contains(rule.Required, "git_range") {
		r.GitRange = "a1b2c3d..e4f5a6b"
	}
	if rule.Grammar == verdict.V2 && slices.Contains(rule.Required, "issues") {
		r.Issues = []verdict.Issue{{Message: "too long"}}
	}
	return r
}

// Every row of the matrix is what Judge does: a result with all that a row requires has the row's
// verdict, and without any one of the required fields it is invalid, with an error about that field.
func TestJudgeFollowsTheMatrix(t *testing.T) {
	require.Len(t, verdict.Matrix(), core.Roles*3*2)
	for _, rule := range verdict.Matrix() {
		text, err := verdict.Render(minimal(rule), rule.Grammar)
		require.NoError(t, err, rule)
		j := verdict.Judge(text, asked(rule.Role))
		require.Equal(t, rule.Verdict, j.Verdict, text)
		require.Equal(t, rule.Grammar, j.Grammar, text)
		for _, field := range rule.Required {
			j := verdict.Judge(drop(t, text, field), asked(rule.Role))
			require.Equal(t, verdict.Invalid, j.Verdict, "%s without %s", rule.Status, field)
			require.Equal(t, []string{field}, fields(j.Errors))
			require.Equal(t, verdict.Missing, j.Errors[0].Fault)
		}
	}
}

// drop takes a field out of a rendered result.
func drop(t *testing.T, text, field string) string {
	if object, ok := strings.CutPrefix(text, "BEGIN_DISPATCH_RESULT\n"); ok {
		object, _, _ = strings.Cut(object, "\n")
		return block(without(t, object, field))
	}
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, field+":") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func fields(problems []verdict.Problem) []string {
	var names []string
	for _, p := range problems {
		names = append(names, p.Field)
	}
	return names
}
