//go:build unix

package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

const theirs = "- [ ] 1. first\n- [ ] 2. second\n- [ ] 3. third, by hand\n"

// died leaves a workspace as a writer does that is killed after it has exchanged the names: the plan has the new
// text, and the temporary file the text out. It returns the path of that file.
func died(t *testing.T, dir, lock, out string) (temp string) {
	t.Helper()
	r := open(t, dir, planfile.Options{LockPath: lock})
	var named []byte
	r.AfterExchange(func() {
		r.AfterExchange(nil)
		files, err := filepath.Glob(filepath.Join(dir, ".waybill-*.tmp"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		temp = files[0]
		named, err = os.ReadFile(lock)
		require.NoError(t, err)
	})
	checked(t, r)
	write(t, temp, out)
	write(t, lock, string(named))
	return temp
}

// shout is an edit that always changes the text.
func shout(f planfile.File) (string, error) { return strings.ToUpper(f.Text), nil }

// A person saved the plan before a writer exchanged the names, and the writer was killed before it put that text
// back. The text then lies in the temporary file only, which the next command removed.
func TestTextThatWasSavedBeforeAKillIsKept(t *testing.T) {
	if !exchanges {
		t.Skip("this system cannot exchange two names in one step")
	}
	for name, next := range map[string]func(t *testing.T, dir, lock, temp string) []string{
		"by its lock": func(_ *testing.T, _, lock, _ string) []string { return planfile.RemoveLeftovers(lock) },
		"by one who only opens the folder": func(t *testing.T, dir, lock, _ string) (kept []string) {
			open(t, dir, planfile.Options{LockPath: lock, Kept: func(path string) { kept = append(kept, path) }})
			return kept
		},
		"by a reader": func(t *testing.T, dir, lock, _ string) (kept []string) {
			_, err := open(t, dir, planfile.Options{LockPath: lock, Kept: func(path string) { kept = append(kept, path) }}).Read("tasks.md", nil)
			require.NoError(t, err)
			return kept
		},
		"by a writer": func(t *testing.T, dir, lock, _ string) (kept []string) {
			_, err := open(t, dir, planfile.Options{LockPath: lock, Kept: func(path string) { kept = append(kept, path) }}).Rewrite("tasks.md", "", shout)
			require.NoError(t, err)
			return kept
		},
		"by a writer with another lock, later": func(t *testing.T, dir, _, temp string) (kept []string) {
			long := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(temp, long, long))
			_, err := open(t, dir, planfile.Options{Kept: func(path string) { kept = append(kept, path) }}).Rewrite("tasks.md", "", shout)
			require.NoError(t, err)
			return kept
		},
	} {
		t.Run(name, func(t *testing.T) {
			for who, row := range map[string]struct {
				text string
				kept bool
			}{
				"replaced": {planText, false}, "written": {changed, false}, "saved": {theirs, true}, "saved in part": {planText[:7], true},
			} {
				t.Run(who, func(t *testing.T) {
					dir, err := filepath.EvalSymlinks(t.TempDir())
					require.NoError(t, err)
					lock := filepath.Join(t.TempDir(), "plans.lock")
					write(t, filepath.Join(dir, "tasks.md"), planText)
					temp := died(t, dir, lock, row.text)
					kept := next(t, dir, lock, temp)
					if !row.kept {
						require.Empty(t, kept)
						only(t, dir, "tasks.md")
						return
					}
					want := temp[:strings.Index(temp, "-"+hash(planText)[:32])] + ".saved"
					require.Equal(t, []string{want}, kept)
					require.Equal(t, kept, planfile.SavedBeside(dir))
					has(t, want, row.text)
					only(t, dir, "tasks.md", filepath.Base(want))
				})
			}
		})
	}
}

// A writer that is killed while it writes its text leaves a part of that text, which is of no use.
func TestUnfinishedDraftIsRemoved(t *testing.T) {
	dir, _ := planned(t, planText)
	lock := filepath.Join(t.TempDir(), "plans.lock")
	draft := strings.TrimSuffix(died(t, dir, lock, planText), ".tmp") + ".draft.tmp"
	write(t, draft, changed[:9])
	require.Empty(t, planfile.RemoveLeftovers(lock))
	only(t, dir, "tasks.md")
}
