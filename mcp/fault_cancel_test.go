package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An id that no request can have cancels none, however near it is to one.
func TestFaultCancellationOfAnotherId(t *testing.T) {
	s := newStage()
	_, c := wired(t, s.heldReads())
	c.send(readyItems("1"))
	<-s.running
	for _, id := range []string{"1.5", `"1"`, "true", "{}"} {
		c.send(note("notifications/cancelled", `"requestId":`+id))
	}
	require.Equal(t, "2 complete", c.ask(inModern("2", "tools/list", "")), "the cancellations were read")
	close(s.release)
	require.Equal(t, "1 complete", brief(t, c.hear()))
	require.Empty(t, c.rest())
}
