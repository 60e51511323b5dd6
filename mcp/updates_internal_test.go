package mcp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// This test is inside the package because only a slow store shows the fault from outside.

func TestAnUpdateCameBeforeTheAcknowledgement(t *testing.T) {
	u := newUpdates(nil)
	require.Nil(t, u.watch("a", "1"))
	require.Nil(t, u.watch("a", legacySubscriber))
	u.mark("a")
	require.Equal(t, []string{"a"}, u.takeChanged())
	require.Equal(t, []string{legacySubscriber}, u.subscribers("a"))
	u.acknowledge("1", []string{"a"})
	require.Equal(t, []string{"a"}, u.takeChanged(), "the change is lost")
	require.Equal(t, []string{legacySubscriber, "1"}, u.subscribers("a"))
	require.Empty(t, u.takeChanged())
}
