package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/read"
)

// A reader of a plan was not told which of their meanings the marks "-" and "~" have.
func TestAPlanSaysWhatItsMarksMean(t *testing.T) {
	for text, want := range map[string]map[string]plan.Status{
		"- [ ] 1. a":                    {"-": plan.InProgress, "~": plan.Pending},
		"- [ ] 1. a\n  - _Blocked: b_":  {"-": plan.InProgress, "~": plan.Blocked},
		"- [ ] T001 a":                  {"-": plan.Skipped, "~": plan.Pending},
		"- [ ] **Track: a**":            {"-": plan.Pending, "~": plan.InProgress},
		"- [ ] a\n[S] = skipped":        {"-": plan.Pending, "~": plan.Pending, "S": plan.Skipped},
		"- [ ] 1. a\n[~] = deferred":    {"-": plan.InProgress, "~": plan.Skipped},
		"# Task ID: 1\n# Title: a":      nil,
		"| ID | Status |\n|-|-|\n|1|x|": nil,
		"":                              nil,
	} {
		require.Equal(t, want, read.Meanings(parse(t, text+"\n")), "%q", text)
	}
}
