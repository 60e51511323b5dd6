package check_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/check"
)

// BenchmarkTree computes the tree of 10,000 files of which none has changed, beside git status in the same run.
func BenchmarkTree(b *testing.B) {
	dir := b.TempDir()
	f := folder{&testing.T{}, dir}
	for n := range 10_000 {
		f.write(fmt.Sprintf("d%d/f%d.go", n%100, n), fmt.Sprintf("package d%d // %d\n", n, n))
	}
	before := time.Now().Add(-time.Hour) // otherwise git reads the files that were written in the instant of the index
	require.NoError(b, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, before, before))
	}))
	f.git("init", "-q")
	f.git("add", ".")
	f.git("commit", "-qm", "one")
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			_, err := check.Tree(b.Context(), dir)
			require.NoError(b, err)
		}
	})
	b.Run("git status", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("git", "status", "--porcelain")
			cmd.Dir = dir
			require.NoError(b, cmd.Run())
		}
	})
}
