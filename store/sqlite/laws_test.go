package sqlite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/law"
	"waybill/store/sqlite"
	"waybill/test/slow"
)

func TestLaws(t *testing.T) {
	runLaws(t, law.All(), func(t *testing.T) sqlite.Options { return sqlite.Options{Path: path(t)} })
}

// TestLawsWithoutSharedMemory: on a file system that machines share there is one connection, so that a
// View waits for an Update and the other way round, and for one process. Everything else holds there, too.
func TestLawsWithoutSharedMemory(t *testing.T) {
	slow.Test(t)
	beside := []string{"a view is one moment", "a view runs beside an update and sees nothing of it"}
	laws := slices.DeleteFunc(law.All(), func(l law.Law) bool { return slices.Contains(beside, l.Name) })
	require.Len(t, laws, len(law.All())-len(beside))
	laws = slices.DeleteFunc(laws, func(l law.Law) bool { return l.Shares })
	runLaws(t, laws, func(t *testing.T) sqlite.Options {
		return sqlite.Options{Path: filepath.Join(t.TempDir(), "OneDrive", "store.db"), AllowRemote: true}
	})
}

func runLaws(t *testing.T, laws []law.Law, options func(t *testing.T) sqlite.Options) {
	law.Run(t, laws, func(t *testing.T) func() store.Store {
		o := options(t)
		return func() store.Store {
			s, err := sqlite.Open(t.Context(), o)
			require.NoError(t, err)
			return s
		}
	})
}
