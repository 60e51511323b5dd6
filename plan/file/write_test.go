package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
	"waybill/plan/places"
)

const changed = "- [x] 1. first\n- [x] 2. second\n"

// check is the edit that checks the first item off.
func check(f planfile.File) (string, error) { return strings.Replace(f.Text, "[ ]", "[x]", 1), nil }

// checked checks the first item off, which has to succeed.
func checked(t testing.TB, r *planfile.Root) {
	t.Helper()
	_, err := r.Rewrite("tasks.md", "", check)
	require.NoError(t, err)
}

func hash(text string) string {
	f := planfile.File{Text: text}
	return f.Hash()()
}

// only asserts that a folder has these names and no other, so that nothing was left behind.
func only(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.ElementsMatch(t, want, got)
}

func has(t testing.TB, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func conflicts(t testing.TB, err error, expected, found string) {
	t.Helper()
	c, ok := errors.AsType[*planfile.ConflictError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, planfile.ConflictError{Path: "tasks.md", Expected: expected, Found: found}, *c)
	require.ErrorContains(t, err, `plan "tasks.md" was changed by another program`)
}

// bench returns a workspace with one plan.
func bench(t testing.TB) (r *planfile.Root, dir, path string) {
	dir, path = planned(t, planText)
	return open(t, dir, planfile.Options{LockPath: filepath.Join(t.TempDir(), "plans.lock")}), dir, path
}

func TestRewriteReplacesTheWholeFile(t *testing.T) {
	for name, text := range map[string]string{
		"plain": planText, "crlf": "\ufeff- [ ] 1. a\r\n\t\r\n- [ ] 2. b", "odd": "- [ ] 1. \x01\u2028\u00a0", "large": planText + strings.Repeat("x\n", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			r, dir, path := bench(t)
			write(t, path, text)
			require.NoError(t, os.Chmod(path, 0o640))
			f, err := r.Rewrite("tasks.md", hash(text), check)
			require.NoError(t, err)
			want := strings.Replace(text, "[ ]", "[x]", 1)
			require.Equal(t, want, f.Text)
			has(t, path, want)
			only(t, dir, "tasks.md")
			info, err := os.Stat(path)
			require.NoError(t, err)
			if filepath.Separator == '/' {
				require.Equal(t, fs.FileMode(0o640), info.Mode())
			}
			stat := statOf(t, path)
			require.Equal(t, stat, f.Stat)
		})
	}
}

func TestRewriteThatChangesNothingTouchesNothing(t *testing.T) {
	r, dir, path := bench(t)
	before := statOf(t, path)
	f, err := r.Rewrite("tasks.md", "", func(f planfile.File) (string, error) { return f.Text, nil })
	require.NoError(t, err)
	require.Equal(t, planText, f.Text)
	mine := errors.New("mine")
	_, err = r.Rewrite("tasks.md", "", func(planfile.File) (string, error) { return "x", mine })
	require.Equal(t, mine, err)
	_, err = r.Rewrite("tasks.md", hash("what it said before"), check)
	conflicts(t, err, hash("what it said before"), hash(planText))
	after := statOf(t, path)
	require.Equal(t, before, after)
	only(t, dir, "tasks.md")
}

// What Read refuses is refused, and so is a text that Read would refuse afterwards.
func TestRewriteRefusesWhatReadRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "large.md"), strings.Repeat("x", 101))
	write(t, filepath.Join(dir, "tasks.md"), planText)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.md"), 0o755))
	r := open(t, dir, planfile.Options{MaxBytes: 100})
	for rel, want := range map[string]planfile.Reason{
		"../tasks.md": planfile.OutsideWorkspace, "gone.md": planfile.Missing, "large.md": planfile.TooLarge,
		"folder.md": planfile.NotRegular, "": planfile.BadPath,
	} {
		_, err := r.Rewrite(rel, "", check)
		require.ErrorIs(t, err, want, "%q", rel)
	}
	_, err := r.Rewrite("tasks.md", "", func(planfile.File) (string, error) { return strings.Repeat("x", 101), nil })
	refused(t, err, "tasks.md", planfile.TooLarge)
	has(t, filepath.Join(dir, "tasks.md"), planText)
	require.NoError(t, r.Close())
	_, err = r.Rewrite("tasks.md", "", check)
	require.ErrorIs(t, err, planfile.Unreadable)
}

// A person saves while the new text lies beside the file, or in the moment between the last look at the
// file and the exchange of the names: by a new file that takes the name, or into the file itself.
func TestSaveOfAPersonAtTheSameMomentWins(t *testing.T) {
	const theirs = "- [ ] 1. first\n- [x] 2. second, and much more\n"
	saves := map[string]func(t *testing.T, path string){
		"in place": func(t *testing.T, path string) { write(t, path, theirs) },
		"by rename": func(t *testing.T, path string) {
			write(t, path+"~", theirs)
			require.NoError(t, os.Rename(path+"~", path))
		},
	}
	moments := map[string]func(*planfile.Root, func()){
		"before the last look": (*planfile.Root).BeforeSwap, "after the last look": (*planfile.Root).AfterCheck,
	}
	for how, save := range saves {
		for when, at := range moments {
			t.Run(how+" "+when, func(t *testing.T) {
				if how == "by rename" && when == "after the last look" && !exchanges {
					t.Skip("this system cannot exchange two names in one step")
				}
				r, dir, path := bench(t)
				at(r, func() { save(t, path) })
				_, err := r.Rewrite("tasks.md", "", check)
				conflicts(t, err, hash(planText), hash(theirs))
				has(t, path, theirs)
				only(t, dir, "tasks.md")
			})
		}
	}
}

// A file that goes away in between is not made anew.
func TestRemovedFileStaysRemoved(t *testing.T) {
	for _, at := range []func(*planfile.Root, func()){(*planfile.Root).BeforeSwap, (*planfile.Root).AfterCheck} {
		r, dir, path := bench(t)
		at(r, func() { require.NoError(t, os.Remove(path)) })
		_, err := r.Rewrite("tasks.md", "", check)
		require.Error(t, err)
		if exchanges {
			only(t, dir)
		}
	}
}

func TestFilesAreExchangedStepByStepWhereTheSystemCannot(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "old")
	write(t, filepath.Join(dir, "b"), "new")
	require.NoError(t, planfile.Emulate(dir, "a", "b"))
	has(t, filepath.Join(dir, "a"), "new")
	has(t, filepath.Join(dir, "b"), "old")
	only(t, dir, "a", "b")
	require.Error(t, planfile.Emulate(dir, "a", "gone"))
	has(t, filepath.Join(dir, "a"), "new")
	only(t, dir, "a", "b")
}

// A file that a dead writer left is no plan, and the next writer removes it, even with another lock.
func TestRemainsOfADeadWriterAreSwept(t *testing.T) {
	r, dir, _ := bench(t)
	name := func(letter string) string {
		return ".waybill-" + strings.Repeat(letter, 26) + "-" + hash("a")[:32] + "-" + hash("b")[:32] + ".draft.tmp"
	}
	old, young, other := filepath.Join(dir, name("A")), filepath.Join(dir, name("B")), filepath.Join(dir, ".other.tmp")
	for _, path := range []string{old, young, other} {
		write(t, path, "- [ ] 1. ha")
	}
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(old, long, long))
	require.NoError(t, os.Chtimes(other, long, long))
	require.Equal(t, []string{"tasks.md"}, found(t, r, append(places.Patterns(), "*", "*.tmp")))
	checked(t, r)
	only(t, dir, "tasks.md", name("B"), ".other.tmp")
}

// Writers change one plan at the same time, in one Root and in several: with one lock no change is lost, and without a
// common one a writer gets a conflict at worst.
func TestWritersLoseNothing(t *testing.T) {
	for _, locked := range []bool{true, false} {
		if !locked && !exchanges {
			continue // this system cannot exchange two names in one step
		}
		dir, o := t.TempDir(), planfile.Options{}
		if locked {
			o.LockPath = filepath.Join(t.TempDir(), "plans.lock")
		}
		path := filepath.Join(dir, "tasks.md")
		const roots, writers, times = 3, 2, 12
		write(t, path, strings.Repeat("- [ ] 1. a\n", roots*writers*times))
		var wg sync.WaitGroup
		var landed atomic.Int64
		for range roots {
			r := open(t, dir, o)
			for range writers {
				wg.Go(func() {
					for range times {
						_, err := r.Rewrite("tasks.md", "", check)
						switch _, conflict := errors.AsType[*planfile.ConflictError](err); {
						case err == nil:
							landed.Add(1)
						case locked || !conflict:
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.GreaterOrEqual(t, int64(strings.Count(string(text), "[x]")), landed.Load(), "changes that were confirmed and are lost")
		require.True(t, !locked || landed.Load() == roots*writers*times)
		require.Len(t, text, roots*writers*times*len("- [ ] 1. a\n"))
		only(t, dir, "tasks.md")
	}
}
