package gate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A panic ends a process with 2, and with 2 Claude Code refuses the prompt.
func TestAPanicInAGoroutineIsAnError(t *testing.T) {
	r := &Handler{Store: &Store{}} // it is not open
	require.ErrorContains(t, r.report(t.Context(), []string{"a", "b"}, "tool", nil), "a fault in waybill: ")
}
