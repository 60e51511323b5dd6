package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnInstructionIsAcknowledged(t *testing.T) {
	for _, era := range []string{legacy, modern} {
		h := build(t, plot{})
		g := h.join(era, nil)
		id := h.do("queue_instruction_with_ack", `{"content":"Run the tests."}`).str("instruction_id")
		o, text := g.use("acknowledge", `{"instruction_id":%q}`, id)
		require.Equal(t, "acknowledged", o["state"])
		require.Contains(t, text[0], "state: acknowledged")
	}
}
