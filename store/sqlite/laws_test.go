package sqlite_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/store"
	"waybill/store/memory"
	"waybill/store/sqlite"
	"waybill/store/storetest"
)

func TestLaws(t *testing.T) {
	runLaws(t, storetest.Laws(), func(t *testing.T) sqlite.Options { return sqlite.Options{Path: path(t)} })
}

// TestLawsWithoutSharedMemory: on a file system that machines share there is one connection, so that a
// View waits for an Update and the other way round, and for one process. Everything else holds there, too.
func TestLawsWithoutSharedMemory(t *testing.T) {
	beside := []string{"a view is one moment", "a view runs beside an update and sees nothing of it"}
	laws := slices.DeleteFunc(storetest.Laws(), func(l storetest.Law) bool { return slices.Contains(beside, l.Name) })
	require.Len(t, laws, len(storetest.Laws())-len(beside))
	laws = slices.DeleteFunc(laws, func(l storetest.Law) bool { return l.Shares })
	runLaws(t, laws, func(t *testing.T) sqlite.Options {
		return sqlite.Options{Path: filepath.Join(t.TempDir(), "OneDrive", "store.db"), AllowRemote: true}
	})
}

func runLaws(t *testing.T, laws []storetest.Law, options func(t *testing.T) sqlite.Options) {
	storetest.Run(t, laws, func(t *testing.T) func() store.Store {
		o := options(t)
		return func() store.Store {
			s, err := sqlite.Open(t.Context(), o)
			require.NoError(t, err)
			return s
		}
	})
}

// TestAgreesWithMemory: whatever is done to both stores, they answer alike.
func TestAgreesWithMemory(t *testing.T) {
	dir := fastDir(t)
	places := 0
	rapid.Check(t, func(rt *rapid.T) {
		places++
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, strconv.Itoa(places), "store.db")})
		require.NoError(rt, err)
		defer func() { require.NoError(rt, s.Close()) }()
		storetest.Agree(rt, memory.New(), s)
	})
}
