package tool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
)

// A next action without advice would leave a model to guess. The test is inside because only answers show the advice.
func TestEveryNextActionHasItsAdvice(t *testing.T) {
	for _, action := range coretest.NextActions() {
		require.NotEmpty(t, advice.Get()[string(action)], action)
	}
}
