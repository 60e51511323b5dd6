package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// Files are saved while they are read: what comes out is what was saved, all of it and nothing else.
func TestFaultF8_SaveInTheMidstOfAReading(t *testing.T) {
	for name, row := range map[string]struct {
		rel  string
		when int // the file that is being read
		save func(at func(name string) string)
		want map[string]string
	}{
		"an editor truncates the file and writes it again": {plans + "/a.md", 1, func(at func(string) string) {
			write(t, at("a.md"), "new a")
		}, map[string]string{"": "new a"}},
		"a file takes its name": {plans + "/a.md", 1, func(at func(string) string) {
			write(t, at("a.md")+".tmp", "new a")
			require.NoError(t, os.Rename(at("a.md")+".tmp", at("a.md")))
		}, map[string]string{"": "new a"}},
		"a file goes and another comes": {plans, 1, func(at func(string) string) {
			require.NoError(t, os.Rename(at("b.md"), at("c.md")))
		}, map[string]string{"a.md": "old", "c.md": "old"}},
		"two are saved together": {plans, 2, func(at func(string) string) {
			write(t, at("a.md"), "new a")
			write(t, at("b.md"), "new b")
		}, map[string]string{"a.md": "new a", "b.md": "new b"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, at := folder(t, map[string]string{"a.md": "old", "b.md": "old"})
			reads := 0
			r.BetweenStats(func() {
				if reads++; reads == row.when {
					row.save(at)
				}
			})
			f := readOf(t, r, row.rel, nil)
			require.False(t, f.Unstable)
			texts := map[string]string{"": f.Text}
			if row.rel == plans {
				_, texts = parts(t, f)
			}
			require.Equal(t, row.want, texts)
		})
	}
}

// A writer that never rests is not waited for: the reading says that it is unstable, and cannot be used to skip the next.
func TestFaultF8_PlanThatNeverRestsIsUnstable(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": planText})
	for _, rel := range []string{plans, plans + "/a.md"} {
		saves := 0
		r.BetweenStats(func() {
			saves++
			write(t, at("a.md"), strings.Repeat("a", 100*saves))
		})
		f := readOf(t, r, rel, nil)
		require.True(t, f.Unstable)
		require.False(t, f.Settled)
		require.GreaterOrEqual(t, saves, 3)
		r.BetweenStats(nil)
		f = readOf(t, r, rel, &f)
		require.False(t, f.Unchanged || f.Unstable)
	}
}

// Readers meet a workspace that comes and goes: each answer is a whole file or a
// typed error.
func TestConcurrentReadsOfARestlessWorkspace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	write(t, filepath.Join(dir, "tasks.md"), planText)
	r := open(t, dir, planfile.Options{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 300 {
				f, err := r.Read("tasks.md", nil)
				if err != nil {
					if _, ok := errors.AsType[*planfile.Error](err); !ok {
						t.Errorf("untyped error %v", err)
					}
				} else if !f.Unstable && f.Text != planText {
					t.Errorf("torn reading %q", f.Text)
				}
			}
		})
	}
	for i := range 50 {
		_ = os.Rename(dir, dir+"x")
		if i%2 == 0 {
			_ = os.Rename(dir+"x", dir)
			continue
		}
		_ = os.RemoveAll(dir + "x")
		write(t, filepath.Join(dir+"y", "tasks.md"), planText)
		_ = os.Rename(dir+"y", dir)
	}
	readers.Wait()
}
