package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The dash behind a number stayed in the titles of numbered plans, and nowhere else.
func TestADashBehindAnIDIsNoPartOfTheTitle(t *testing.T) {
	for line, title := range map[string]string{
		"6 - dash": "dash", "6. - dash": "dash", "6 — dash": "dash", "6 – dash": "dash", "6 - a - b": "a - b",
		"6 -1 degree": "-1 degree", "6 -": "-", "6 --dry-run": "--dry-run",
	} {
		for _, dialect := range []string{"spec-context", "kiro", "openspec", "cc-sdd", "ai-dev-tasks"} {
			r := parse(t, "<!-- waybill: dialect="+dialect+" -->\n- [ ] "+line+"\n")
			require.Equal(t, title, item(t, r, "6").Title, "%s: %s", dialect, line)
		}
	}
}
