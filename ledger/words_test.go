package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
)

func TestStatusWords(t *testing.T) {
	words := map[ledger.Status]string{
		ledger.Pending: "pending", ledger.InProgress: "in_progress", ledger.Completed: "completed",
		ledger.Blocked: "blocked", ledger.Skipped: "skipped",
	}
	for status := range ledger.Status(10) {
		require.Equal(t, words[status], status.String())
		parsed, ok := ledger.ParseStatus(status.String())
		require.Equal(t, words[status] != "", ok)
		if ok {
			require.Equal(t, status, parsed)
		}
	}
	for _, word := range []string{"", "Pending", "in-progress", "done"} {
		_, ok := ledger.ParseStatus(word)
		require.False(t, ok, word)
	}
}

func TestSeverityWords(t *testing.T) {
	words := map[ledger.Severity]string{
		ledger.SeverityInfo: "info", ledger.SeverityWarning: "warning", ledger.SeverityError: "error",
	}
	for severity := range ledger.Severity(10) {
		require.Equal(t, words[severity], severity.String())
	}
}

func TestChangeWords(t *testing.T) {
	words := map[ledger.ChangeKind]string{ledger.Added: "added", ledger.Removed: "removed", ledger.Changed: "changed"}
	for kind := range ledger.ChangeKind(10) {
		require.Equal(t, words[kind], kind.String())
	}
}
