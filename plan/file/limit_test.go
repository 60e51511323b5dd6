package file_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// A file of a gigabyte is refused by its size alone: memory stays flat.
func TestFaultF5_HugePlanIsRefusedWithItsSize(t *testing.T) {
	const size = 1 << 30
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "tasks.md"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size))
	require.NoError(t, f.Close())
	r := open(t, dir, planfile.Options{})

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = r.Read("tasks.md", nil)
	runtime.ReadMemStats(&after)
	e := refused(t, err, "tasks.md", planfile.TooLarge)
	require.EqualValues(t, size, e.Size)
	require.EqualValues(t, 8<<20, e.Limit)
	require.ErrorContains(t, err, "1073741824")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestFaultF5_LimitIsInclusiveAndHoldsForAGrowingFile(t *testing.T) {
	dir, path := planned(t, "12345678")
	r := open(t, dir, planfile.Options{MaxBytes: 8})
	f := readOf(t, r, "tasks.md", nil)
	require.Len(t, f.Text, 8)

	r.BetweenStats(func() { write(t, path, "123456789") })
	_, err := r.Read("tasks.md", nil)
	refused(t, err, "tasks.md", planfile.TooLarge)
}
