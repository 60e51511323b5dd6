package lazyregexp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/lazyregexp"
)

func TestWrongPatternIsFoundByEveryTestOfItsPackage(t *testing.T) {
	require.Panics(t, func() { lazyregexp.New("(") })
	r := lazyregexp.New("^a+$")
	require.True(t, r().MatchString("aa"))
	require.Same(t, r(), r(), "it is compiled once")
}
