package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

// A reader of a plan was not told which of their meanings the marks "-" and "~" have.
func TestAPlanSaysWhatItsMarksMean(t *testing.T) {
	for text, want := range map[string]map[string]ledger.Status{
		"- [ ] 1. a":                    {"-": ledger.InProgress, "~": ledger.Pending},
		"- [ ] 1. a\n  - _Blocked: b_":  {"-": ledger.InProgress, "~": ledger.Blocked},
		"- [ ] T001 a":                  {"-": ledger.Skipped, "~": ledger.Pending},
		"- [ ] **Track: a**":            {"-": ledger.Pending, "~": ledger.InProgress},
		"- [ ] a\n[S] = skipped":        {"-": ledger.Pending, "~": ledger.Pending, "S": ledger.Skipped},
		"- [ ] 1. a\n[~] = deferred":    {"-": ledger.InProgress, "~": ledger.Skipped},
		"# Task ID: 1\n# Title: a":      nil,
		"| ID | Status |\n|-|-|\n|1|x|": nil,
		"":                              nil,
	} {
		require.Equal(t, want, parse(t, text+"\n").Meanings(), "%q", text)
	}
}
