package file_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

func symlink(t testing.TB, target, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

// The link is swapped between the check and the open: no interleaving reads a byte
// from outside.
func TestFaultF15_SwappedLinkNeverReadsOutside(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	write(t, filepath.Join(base, "secret.md"), "secret")
	write(t, filepath.Join(dir, "real.md"), planText)
	symlink(t, "real.md", filepath.Join(dir, "in"))
	symlink(t, filepath.Join(base, "secret.md"), filepath.Join(dir, "out"))
	r := open(t, dir, planfile.Options{})

	done := make(chan struct{}) // closed by the reader
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			from := []string{"in", "out"}[i%2]
			target, _ := os.Readlink(filepath.Join(dir, from))
			_ = os.Symlink(target, filepath.Join(dir, "next"))
			_ = os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "tasks.md"))
		}
	})
	good, bad := 0, 0
	for range 3000 {
		f, err := r.Read("tasks.md", nil)
		switch {
		case err != nil:
			bad++
		default:
			good++
			require.Equal(t, planText, f.Text)
		}
	}
	close(done)
	swapper.Wait()
	t.Logf("%d read, %d refused", good, bad)
}
