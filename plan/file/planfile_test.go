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

// planned returns a folder with a plan.
func planned(t testing.TB, text string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "tasks.md")
	write(t, path, text)
	return dir, path
}

// readOf reads a plan that can be read.
func readOf(t testing.TB, r *planfile.Root, rel string, last *planfile.File) planfile.File {
	t.Helper()
	f, err := r.Read(rel, last)
	require.NoError(t, err, rel)
	return f
}

func found(t testing.TB, r *planfile.Root, patterns []string) []string {
	t.Helper()
	all, err := r.Find(patterns)
	require.NoError(t, err)
	return all
}

func statOf(t testing.TB, path string) planfile.Stat {
	t.Helper()
	stat, err := planfile.StatPath(path)
	require.NoError(t, err)
	return stat
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
	dir, _ := planned(t, planText)
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
