package memory_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"waybill/store"
	"waybill/store/memory"
	"waybill/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLaws(t *testing.T) {
	laws := slices.DeleteFunc(storetest.Laws(), func(l storetest.Law) bool { return l.Reopens || l.Shares })
	storetest.Run(t, laws, func(*testing.T) func() store.Store {
		return func() store.Store { return memory.New() }
	})
}
