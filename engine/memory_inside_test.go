package engine

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// The last accepted text of a role stays when other roles exceed the bound. The test is internal because it needs 64
// results.
func TestLastTextOfARoleIsKept(t *testing.T) {
	m := memory{}.withAccepted(core.SpecReviewer, "the text")
	for i := range 2 * maxTaken {
		m = m.withAccepted(core.Role(1+i%2*2), fmt.Sprint(i)) // the worker and the code quality reviewer
	}
	require.Len(t, m.accepted.Texts, maxTaken)
	by, ok := m.acceptedAs(core.CodeQualityReviewer, "the text")
	require.True(t, ok)
	require.Equal(t, core.SpecReviewer, by)
}
