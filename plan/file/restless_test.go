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

// An editor truncates the file and writes it again while it is read.
func TestFaultF8_HalfWrittenPlanIsReadAgain(t *testing.T) {
	dir, path := planned(t, "- [ ] 1. half")
	r := open(t, dir, planfile.Options{Now: later})
	saves := 0
	r.BetweenStats(func() {
		if saves++; saves == 1 {
			write(t, path, planText)
		}
	})
	f := readOf(t, r, "tasks.md", nil)
	require.False(t, f.Unstable)
	require.Equal(t, planText, f.Text)
	require.Equal(t, 2, saves)
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

// A save by rename in the middle of a reading never returns a mixture.
func TestFaultF8_RenameOverWhileReading(t *testing.T) {
	dir, path := planned(t, "old\n")
	r := open(t, dir, planfile.Options{})
	r.BetweenStats(func() {
		r.BetweenStats(nil)
		write(t, path+".tmp", planText)
		require.NoError(t, os.Rename(path+".tmp", path))
	})
	f := readOf(t, r, "tasks.md", nil)
	require.Contains(t, []string{"old\n", planText}, f.Text)
	require.False(t, f.Unstable)
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
