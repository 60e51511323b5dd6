package store_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
)

// TestTallyCheck: what no store keeps is refused in words that say where to look.
func TestTallyCheck(t *testing.T) {
	require.NoError(t, store.Tally{Name: "result:worker.pass-1_x", N: math.MaxInt64}.Check())
	for want, bad := range map[string]store.Tally{
		`"" has 0`:                        {},
		"has 65":                          {Name: strings.Repeat("x", 65)},
		`has 'R' at byte 0: use a-z`:      {Name: "Results"},
		`has ' ' at byte 3`:               {Name: "two words"},
		"the tally results is -1, and no": {Name: "results", N: -1},
	} {
		require.ErrorContains(t, bad.Check(), want)
	}
}

// TestSumTallies: each name is given once, in order, and no sum goes round.
func TestSumTallies(t *testing.T) {
	require.Empty(t, store.SumTallies(nil))
	require.Equal(t, []store.Tally{{Name: "a", N: 0}, {Name: "b", N: 6}, {Name: "c", N: math.MaxInt64}}, store.SumTallies([]store.Tally{
		{Name: "c", N: math.MaxInt64}, {Name: "b", N: 1}, {Name: "a", N: 0}, {Name: "c", N: math.MaxInt64}, {Name: "b", N: 5},
	}))
}
