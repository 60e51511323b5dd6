package sqlite_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/store/sqlite"
	"waybill/test/slow"
)

// TestFolderRemovedDuringOpenWasAPanic: a test's end removed the folder of a store that was being opened.
func TestFolderRemovedDuringOpenWasAPanic(t *testing.T) {
	slow.Test(t)
	dir := fastDir(t)
	for n := range 300 {
		folder := filepath.Join(dir, strconv.Itoa(n))
		require.NoError(t, os.Mkdir(folder, 0o700))
		removed := make(chan struct{})
		go func() { // ends when the folder is gone
			defer close(removed)
			for t.Context().Err() == nil {
				if _, err := os.Stat(filepath.Join(folder, "store.db")); err == nil {
					_ = os.RemoveAll(folder)
					return
				}
			}
		}()
		if s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(folder, "store.db")}); err == nil {
			_ = s.Close()
		}
		_ = os.WriteFile(filepath.Join(folder, "store.db"), nil, 0o600) // for a remover that has seen nothing yet
		<-removed
	}
}
