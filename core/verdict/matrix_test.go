package verdict_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/test/golden"
)

func TestAcceptanceMatrix(t *testing.T) {
	var b strings.Builder
	b.WriteString("The fields that a result of a role (first column) with a status word (second) must have to count. Optional fields are\nin brackets. A legacy statement has no fields.\n")
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

// minimal returns the text of a result with only the required fields of a row.
func minimal(rule verdict.Rule) string {
	values := map[string]string{
		"role": rule.Role.String(), "task_id": "2.1", "status": rule.Status, "assessment": rule.Status, "git_range": "a1b2c3d..e4f5a6b",
		"issues": "too long", "summary": "",
	}
	headers, members := "", []string{}
	for _, field := range rule.Required {
		headers += field + ": " + values[field] + "\n"
		value, known := values[field]
		if value = strconv.Quote(value); !known || field == "issues" {
			value = "[]"
		}
		members = append(members, strconv.Quote(field)+":"+value)
	}
	if rule.Grammar == verdict.V2 {
		return headers
	}
	return block("{" + strings.Join(members, ",") + "}")
}

// Judge follows every row of the matrix: a result with all required fields has the verdict of the row, and without one of
// them it is invalid, with an error about that field.
func TestJudgeFollowsTheMatrix(t *testing.T) {
	require.Len(t, verdict.Matrix(), core.Roles*3*2)
	for _, rule := range verdict.Matrix() {
		text := minimal(rule)
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

// drop takes a field out of a result.
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
