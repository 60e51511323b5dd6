package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

// What a result holds too much of is counted, in each grammar: the next agent has to be told that it does not see all.
func TestWhatIsLeftOutIsCounted(t *testing.T) {
	long := strings.Repeat("x", 5000)
	block := func(issues, fixes string) string {
		return fmt.Sprintf("BEGIN_DISPATCH_RESULT\n"+
			`{"task_id":"1","assessment":"needs_changes","strengths":[],"issues":[%s],"required_fixes":[%s]}`+"\nEND_DISPATCH_RESULT\n", issues, fixes)
	}
	issue := `{"severity":"minor","file":"a.go","message":"m","fix":"` + long + `"}`
	for name, c := range map[string]struct {
		text string
		want verdict.Lost
	}{
		"none":    {block(strings.ReplaceAll(issue, long, "f"), `"dry it"`), verdict.Lost{}},
		"block":   {block(issue, `"`+long+`"`+strings.Repeat(`,"y"`, 1200)), verdict.Lost{Issues: 1, RequiredFixes: 202}},
		"headers": {"role: spec-reviewer\ntask_id: 1\nstatus: gaps\nissues: " + strings.Repeat("wet; ", 1200) + "cold\n", verdict.Lost{Issues: 201}},
		"legacy":  {"Issues found:\n" + strings.Repeat("- wet\n", 1200), verdict.Lost{Issues: 200}},
	} {
		j := verdict.Judge(c.text, verdict.Asked{Role: core.SpecReviewer, ItemID: "1"})
		require.Equal(t, verdict.Gaps, j.Verdict, "%s: %v", name, j.Errors)
		require.Equal(t, c.want, j.Lost, name)
	}
}
