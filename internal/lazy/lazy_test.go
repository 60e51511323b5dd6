package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/lazy"
)

func TestAValueIsMadeOnceAndNotBefore(t *testing.T) {
	made := 0
	v := lazy.Value[int]{Of: func() int { made++; return 6 + made }}
	require.Zero(t, made)
	require.Equal(t, 7, v.Get())
	require.Equal(t, 7, v.Get())
}
