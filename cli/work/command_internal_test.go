package work

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An agent behind `waybill acp` may start `waybill work`, whose agents need their hooks.
func TestCommandsDoNotInheritTheTaskOfAnotherAgent(t *testing.T) {
	for variable, want := range map[string]bool{"WAYBILL_HOOKS=off": true, "WAYBILL_TASK_ID=t": true, "WAYBILL_STORE=s": false, "PATH=/bin": false} {
		require.Equal(t, want, isTaskVariable(variable), variable)
	}
}
