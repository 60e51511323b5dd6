package file_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	planfile "waybill/plan/file"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const planText = "- [ ] 1. first\n- [x] 2. second\n"

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
	write(t, filepath.Join(dir, "docs", "tasks.md"), planText)
	r := open(t, dir, planfile.Options{Now: later})

	for _, rel := range []string{"docs/tasks.md", "./docs//tasks.md"} {
		f, err := r.Read(rel, nil)
		require.NoError(t, err)
		require.Equal(t, "docs/tasks.md", f.Path)
		require.Equal(t, planText, f.Text)
		require.EqualValues(t, len(planText), f.Stat.Size)
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
	write(t, filepath.Join(dir, "tasks.md"), planText)
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

	write(t, filepath.Join(dir, "specs", "one", "tasks.md"), planText)
	f, err := r.Read("specs/one/tasks.md", nil)
	require.NoError(t, err)
	require.Equal(t, planText, f.Text)

	write(t, filepath.Join(dir, "file"), "")
	_, err = r.Read("file/tasks.md", nil)
	refused(t, err, "file/tasks.md", planfile.Missing)
}

// A plan that disappears is reported as missing, never as unchanged, so that the
// caller can go on from the reading it still holds.
func TestFaultF2_PlanMissingAfterAReading(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tasks.md")
	write(t, path, planText)
	r := open(t, dir, planfile.Options{Now: later})
	good, err := r.Read("tasks.md", nil)
	require.NoError(t, err)

	require.NoError(t, os.Remove(path))
	_, err = r.Read("tasks.md", &good)
	refused(t, err, "tasks.md", planfile.Missing)
	require.Equal(t, planText, good.Text)
}

// A folder in the place of the plan is not opened as a file.
func TestFaultF3_FolderInPlaceOfThePlan(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tasks.md"), 0o755))
	_, err := open(t, dir, planfile.Options{}).Read("tasks.md", nil)
	refused(t, err, "tasks.md", planfile.NotRegular)
	require.ErrorContains(t, err, "folder")
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
