package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

func benchRoot(b *testing.B, size int) (*planfile.Root, string) {
	dir := b.TempDir()
	path := filepath.Join(dir, ".kiro", "specs", "login", "tasks.md")
	write(b, path, strings.Repeat("- [ ] a task of forty bytes in a plan ..\n", size/41+1)[:size])
	return open(b, dir, planfile.Options{Now: later}), path
}

// The probes are the least that the same answer can cost: one stat, and
// open+fstat+read+close.
func BenchmarkUnchanged(b *testing.B) {
	r, path := benchRoot(b, 20<<10)
	b.Run("probe-stat", func(b *testing.B) {
		for b.Loop() {
			_, err := os.Stat(path)
			require.NoError(b, err)
		}
	})
	b.Run("read", func(b *testing.B) {
		prev, err := r.Read(".kiro/specs/login/tasks.md", nil)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			f, err := r.Read(".kiro/specs/login/tasks.md", &prev)
			if err != nil || !f.Unchanged {
				b.Fatal(f.Unchanged, err)
			}
		}
	})
}

func BenchmarkCold(b *testing.B) {
	r, path := benchRoot(b, 20<<10)
	b.Run("probe-readfile", func(b *testing.B) {
		for b.Loop() {
			_, err := os.ReadFile(path)
			require.NoError(b, err)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := r.Read(".kiro/specs/login/tasks.md", nil)
			require.NoError(b, err)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	r, path := benchRoot(b, 100)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		write(b, filepath.Join(filepath.Dir(filepath.Dir(path)), name, "tasks.md"), planText)
	}
	for b.Loop() {
		got, err := r.Find(planfile.DefaultPatterns())
		require.NoError(b, err)
		require.Len(b, got, 10)
	}
}

// A folder of two hundred items: what it costs to know that nothing has changed, beside a stat for each.
func BenchmarkUnchangedFolder(b *testing.B) {
	const items = 200
	files := map[string]string{}
	for i := range items {
		files[fmt.Sprintf("task-%d.md", i)] = planText
	}
	r, at := folder(b, files)
	b.Run("probe-stat", func(b *testing.B) {
		for b.Loop() {
			for name := range files {
				_, err := os.Stat(at(name))
				require.NoError(b, err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		prev, err := r.Read(plans, nil)
		require.NoError(b, err)
		b.ReportAllocs()
		for b.Loop() {
			f, err := r.Read(plans, &prev)
			if err != nil || !f.Unchanged {
				b.Fatal(f.Unchanged, err)
			}
		}
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			_, err := r.Read(plans, nil)
			require.NoError(b, err)
		}
	})
}

// The search for all tools' plans, in a workspace that has none and in one with a hundred.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{0, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				write(b, filepath.Join(dir, "specs", fmt.Sprint(i), "tasks.md"), planText)
			}
			r := open(b, dir, planfile.Options{Folders: true})
			for b.Loop() {
				found, err := r.Find(planfile.DefaultPatterns())
				if err != nil || len(found) != n {
					b.Fatal(found, err)
				}
			}
		})
	}
}
