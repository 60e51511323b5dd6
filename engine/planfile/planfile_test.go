package planfile_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/engine/planfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const plan = "- [ ] 1. first\n- [x] 2. second\n"

// later is a clock ten seconds ahead: for it every file has settled.
func later() time.Time { return time.Now().Add(10 * time.Second) }

func open(t testing.TB, dir string, o planfile.Options) *planfile.Root {
	t.Helper()
	r, err := planfile.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// refused asserts that err is a *planfile.Error for path with that reason, and returns
// its facts.
func refused(t testing.TB, err error, path string, reason planfile.Reason) planfile.Error {
	t.Helper()
	require.ErrorIs(t, err, reason)
	e, ok := errors.AsType[*planfile.Error](err)
	require.True(t, ok, "%T", err)
	require.Equal(t, path, e.Path)
	require.Contains(t, err.Error(), path)
	return *e
}

func TestHashIsThatOfTheText(t *testing.T) {
	for _, size := range []int{0, 1, 8 << 10, 8<<10 + 1, 1 << 20} {
		f := planfile.File{Text: strings.Repeat("x", size)}
		hash := f.Hash()
		want := fmt.Sprintf("%x", sha256.Sum256([]byte(f.Text)))
		require.Equal(t, want, hash())
		require.Equal(t, want, hash(), "again")
	}
}

func TestReadGivesTheWholeFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "docs", "tasks.md"), plan)
	r := open(t, dir, planfile.Options{Now: later})

	for _, rel := range []string{"docs/tasks.md", "./docs//tasks.md"} {
		f, err := r.Read(rel, nil)
		require.NoError(t, err)
		require.Equal(t, "docs/tasks.md", f.Path)
		require.Equal(t, plan, f.Text)
		require.EqualValues(t, len(plan), f.Stat.Size)
		require.Equal(t, f.Stat.MtimeNs/1e6, f.Stat.MtimeMs())
		require.True(t, f.Settled)
		require.False(t, f.Unstable)
		require.False(t, f.Unchanged)
	}
}

func TestReadEmptyFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), "")
	f, err := open(t, dir, planfile.Options{}).Read("tasks.md", nil)
	require.NoError(t, err)
	require.Empty(t, f.Text)
	require.False(t, f.Unstable)
}

func TestUnchangedNeedsASettledReading(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), plan)
	now := time.Now()
	r := open(t, dir, planfile.Options{Now: func() time.Time { return now }})

	young, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.False(t, young.Settled, "a file just written may change within its clock's tick")

	again, err := r.Read("tasks.md", &young)
	require.NoError(t, err)
	require.False(t, again.Unchanged)

	now = now.Add(10 * time.Second)
	old, err := r.Read("tasks.md", &young)
	require.NoError(t, err)
	require.False(t, old.Unchanged, "the first reading was too young to vouch for anything")
	require.True(t, old.Settled)

	same, err := r.Read("tasks.md", &old)
	require.NoError(t, err)
	require.True(t, same.Unchanged)
	require.Equal(t, old.Text, same.Text)
	require.Equal(t, old.Stat, same.Stat)
}

func TestUnchangedIsOnlyForTheSamePath(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), plan)
	require.NoError(t, os.Link(filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md")))
	r := open(t, dir, planfile.Options{Now: later})
	a, err := r.Read("a.md", nil)
	require.NoError(t, err)
	b, err := r.Read("b.md", &a)
	require.NoError(t, err)
	require.False(t, b.Unchanged)
	require.Equal(t, "b.md", b.Path)
}

func TestOpenRefusesBadOptionsAndFolders(t *testing.T) {
	dir := t.TempDir()
	_, err := planfile.Open(dir, planfile.Options{MaxBytes: -1})
	require.ErrorContains(t, err, "MaxBytes")
	_, err = planfile.Open(filepath.Join(dir, "absent"), planfile.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	write(t, filepath.Join(dir, "file"), "")
	_, err = planfile.Open(filepath.Join(dir, "file"), planfile.Options{})
	require.Error(t, err)
}

func TestClosedRootReadsNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.md"), plan)
	r, err := planfile.Open(dir, planfile.Options{})
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, err = r.Read("tasks.md", nil)
	require.ErrorIs(t, err, os.ErrClosed)
	refused(t, err, "tasks.md", planfile.Unreadable)
	_, err = r.Find(nil)
	require.ErrorIs(t, err, os.ErrClosed)
}

// A missing plan at the start is an error that names the path; a plan that appears
// later is picked up by the next Read.
func TestFaultF1_MissingPlanIsReportedAndPickedUpLater(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, planfile.Options{})
	_, err := r.Read("specs/one/tasks.md", nil)
	e := refused(t, err, "specs/one/tasks.md", planfile.Missing)
	require.False(t, e.WorkspaceGone)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, planfile.Unreadable)

	write(t, filepath.Join(dir, "specs", "one", "tasks.md"), plan)
	f, err := r.Read("specs/one/tasks.md", nil)
	require.NoError(t, err)
	require.Equal(t, plan, f.Text)

	write(t, filepath.Join(dir, "file"), "")
	_, err = r.Read("file/tasks.md", nil)
	refused(t, err, "file/tasks.md", planfile.Missing)
}

// A plan that disappears is reported as missing, never as unchanged, so that the
// caller can go on from the reading it still holds.
func TestFaultF2_PlanMissingAfterAReading(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, plan)
	r := open(t, dir, planfile.Options{Now: later})
	good, err := r.Read("tasks.md", nil)
	require.NoError(t, err)

	require.NoError(t, os.Remove(path))
	_, err = r.Read("tasks.md", &good)
	refused(t, err, "tasks.md", planfile.Missing)
	require.Equal(t, plan, good.Text)
}

// A folder in the place of the plan is not opened as a file.
func TestFaultF3_FolderInPlaceOfThePlan(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tasks.md"), 0o755))
	_, err := open(t, dir, planfile.Options{}).Read("tasks.md", nil)
	refused(t, err, "tasks.md", planfile.NotRegular)
	require.ErrorContains(t, err, "folder")
}

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
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, "12345678")
	r := open(t, dir, planfile.Options{MaxBytes: 8})
	f, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.Len(t, f.Text, 8)

	r.BetweenStats(func() { write(t, path, "123456789") })
	_, err = r.Read("tasks.md", nil)
	refused(t, err, "tasks.md", planfile.TooLarge)
}

// An editor truncates the file and writes it again while it is read.
func TestFaultF8_HalfWrittenPlanIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, "- [ ] 1. half")
	r := open(t, dir, planfile.Options{Now: later})
	saves := 0
	r.BetweenStats(func() {
		if saves++; saves == 1 {
			write(t, path, plan)
		}
	})
	f, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.False(t, f.Unstable)
	require.Equal(t, plan, f.Text)
	require.Equal(t, 2, saves)
}

// A writer that never rests is not waited for: the reading says that it is unstable,
// and cannot be used to skip the next one.
func TestFaultF8_PlanThatNeverRestsIsUnstable(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, plan)
	r := open(t, dir, planfile.Options{Now: later})
	saves := 0
	grow := func() {
		saves++
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("- [ ] more\n")
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	r.BetweenStats(grow)
	f, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.True(t, f.Unstable)
	require.False(t, f.Settled)
	require.Equal(t, 3, saves)

	r.BetweenStats(nil)
	f, err = r.Read("tasks.md", &f)
	require.NoError(t, err)
	require.False(t, f.Unchanged)
	require.False(t, f.Unstable)
}

// A save by rename in the middle of a reading never gives a mixture.
func TestFaultF8_RenameOverWhileReading(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, "old\n")
	r := open(t, dir, planfile.Options{})
	r.BetweenStats(func() {
		r.BetweenStats(nil)
		write(t, path+".tmp", plan)
		require.NoError(t, os.Rename(path+".tmp", path))
	})
	f, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.Contains(t, []string{"old\n", plan}, f.Text)
	require.False(t, f.Unstable)
}

// Bytes change but the modification time is put back (cp -p, touch -r, git).
func TestFaultF22_PreservedMtimeDoesNotHideAChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	old := time.Now().Add(-time.Hour)
	write(t, path, "- [ ] 1. a\n")
	require.NoError(t, os.Chtimes(path, old, old))
	r := open(t, dir, planfile.Options{Now: later})

	for name, save := range map[string]func(){
		"in place": func() { write(t, path, "- [x] 1. a\n") },
		"by rename": func() {
			write(t, path+".tmp", "- [~] 1. a\n")
			require.NoError(t, os.Rename(path+".tmp", path))
		},
	} {
		first, err := r.Read("tasks.md", nil)
		require.NoError(t, err)
		require.True(t, first.Settled, name)
		for moved := false; !moved; { // the clock of the file system has ticks
			save()
			require.NoError(t, os.Chtimes(path, old, old))
			now, err := planfile.StatPath(path)
			require.NoError(t, err)
			require.Equal(t, first.Stat.Size, now.Size)
			require.Equal(t, first.Stat.MtimeNs, now.MtimeNs)
			moved = now != first.Stat
		}
		second, err := r.Read("tasks.md", &first)
		require.NoError(t, err)
		require.False(t, second.Unchanged, name)
		require.NotEqual(t, first.Text, second.Text, name)
	}
}

// A modification time in the future, from a wrong clock, never spares a read.
func TestFaultF22_FutureMtimeIsNeverTrusted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, plan)
	future := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(path, future, future))
	now := later()
	r := open(t, dir, planfile.Options{Now: func() time.Time { return now }})
	f, err := r.Read("tasks.md", nil)
	require.NoError(t, err)
	require.False(t, f.Settled)

	now = future.Add(time.Minute)
	f, err = r.Read("tasks.md", &f)
	require.NoError(t, err)
	require.True(t, f.Settled)
	now = future.Add(-time.Minute) // the clock is put right again
	f, err = r.Read("tasks.md", &f)
	require.NoError(t, err)
	require.False(t, f.Unchanged)
}

// One file reached by two spellings of the workspace, or by a hard link, has one
// identity.
func TestFaultF18_SpellingsShareOneIdentity(t *testing.T) {
	base := t.TempDir()
	real := filepath.Join(base, "real")
	write(t, filepath.Join(real, "tasks.md"), plan)
	require.NoError(t, os.Link(filepath.Join(real, "tasks.md"), filepath.Join(real, "hard.md")))
	alias := filepath.Join(base, "alias")
	symlink(t, "real", alias)

	want, err := open(t, real, planfile.Options{}).Read("tasks.md", nil)
	require.NoError(t, err)
	for _, dir := range []string{alias, real + string(filepath.Separator), filepath.Join(base, "real", "..", "alias")} {
		r := open(t, dir, planfile.Options{})
		for _, rel := range []string{"tasks.md", "hard.md"} {
			got, err := r.Read(rel, nil)
			require.NoError(t, err, dir)
			require.Equal(t, want.Stat, got.Stat, dir)
		}
	}
}

// The workspace is deleted during the run, and later made again.
func TestFaultF24_WorkspaceDeletedAndRecreated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	write(t, filepath.Join(dir, "tasks.md"), plan)
	r := open(t, dir, planfile.Options{Now: later})
	good, err := r.Read("tasks.md", nil)
	require.NoError(t, err)

	require.NoError(t, os.RemoveAll(dir))
	_, err = r.Read("tasks.md", &good)
	e := refused(t, err, "tasks.md", planfile.Missing)
	require.True(t, e.WorkspaceGone)
	_, err = r.Find(planfile.DefaultPatterns())
	require.ErrorIs(t, err, fs.ErrNotExist)

	write(t, filepath.Join(dir, "tasks.md"), "new\n")
	f, err := r.Read("tasks.md", &good)
	require.NoError(t, err)
	require.Equal(t, "new\n", f.Text)

	write(t, filepath.Join(dir+"2", "tasks.md"), "other\n")
	require.NoError(t, os.Rename(dir, dir+"1"))
	require.NoError(t, os.Rename(dir+"2", dir))
	f, err = r.Read("tasks.md", &f)
	require.NoError(t, err)
	require.Equal(t, "other\n", f.Text)
}

// Readers meet a workspace that comes and goes: each answer is a whole file or a
// typed error.
func TestConcurrentReadsOfARestlessWorkspace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	write(t, filepath.Join(dir, "tasks.md"), plan)
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
				} else if !f.Unstable && f.Text != plan {
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
		write(t, filepath.Join(dir+"y", "tasks.md"), plan)
		_ = os.Rename(dir+"y", dir)
	}
	readers.Wait()
}

// What went wrong is said in words, not with the name of the call that failed.
func TestErrorsNameNoSystemCalls(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, planfile.Options{})
	_, err := r.Read("tasks.md", nil)
	require.ErrorContains(t, err, `plan "tasks.md" cannot be read (missing)`)
	require.NotRegexp(t, `stat|openat|CreateFile`, err.Error())
	require.ErrorIs(t, err, fs.ErrNotExist)
	if os.RemoveAll(dir) != nil {
		t.Skip("this system does not remove a folder that is open")
	}
	_, err = r.Find(planfile.DefaultPatterns())
	require.ErrorContains(t, err, "find plans in the workspace folder: ")
	require.NotRegexp(t, `stat|openat|CreateFile`, err.Error())
	require.ErrorIs(t, err, fs.ErrNotExist)
}
