package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

func TestStatusWords(t *testing.T) {
	words := map[plan.Status]string{
		plan.Pending: "pending", plan.InProgress: "in_progress", plan.Completed: "completed",
		plan.Blocked: "blocked", plan.Skipped: "skipped",
	}
	for status := range plan.Status(10) {
		require.Equal(t, words[status], status.String())
		parsed, ok := plan.ParseStatus(status.String())
		require.Equal(t, words[status] != "", ok)
		if ok {
			require.Equal(t, status, parsed)
		}
	}
	for _, word := range []string{"", "Pending", "in-progress", "done"} {
		_, ok := plan.ParseStatus(word)
		require.False(t, ok, word)
	}
}

func TestSeverityWords(t *testing.T) {
	words := map[plan.Severity]string{
		plan.SeverityInfo: "info", plan.SeverityWarning: "warning", plan.SeverityError: "error",
	}
	for severity := range plan.Severity(10) {
		require.Equal(t, words[severity], severity.String())
	}
}
