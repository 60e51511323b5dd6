package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A plan without a single bracket had an index without a free slot, and who
// asked it for an unknown id never got an answer.
func TestAnUnknownIDOfAPlanWithoutBoxesIsNotFound(t *testing.T) {
	for _, text := range []string{"- ✅ one\n", "- ✅ one\n- ⏳ two\n", "- ✅ one\n- ⏳ two\n- ✅ three\n"} {
		_, ok := parse(t, text).Item("zzz")
		require.False(t, ok)
	}
}
