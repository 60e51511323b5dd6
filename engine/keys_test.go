package engine // inside, because from outside the number of keys shows only as time

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// TestFormerKeysAreBounded: a text that a long run has taken before was compared with the keys of all its rounds. Only the
// texts of the last ones are remembered.
func TestFormerKeysAreBounded(t *testing.T) {
	const many = 100_000
	keys := Rounds{many}.former("run_1", core.Worker)
	require.LessOrEqual(t, len(keys), maxTaken+1)
	for back := range maxTaken { // the newest text that is remembered is that of the round many, the oldest that of many+1-maxTaken
		require.Contains(t, keys, Rounds{many - back - 1}.Key("run_1", core.Worker))
	}
	require.Len(t, Rounds{3}.former("run_1", core.Worker), 3)
	require.Empty(t, Rounds{}.former("run_1", core.Worker))
}
