package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	planfile "waybill/plan/file"
)

// folder returns a workspace with a plan that is a folder of these files, and the way to its files.
func folder(t testing.TB, files map[string]string) (r *planfile.Root, at func(name string) string) {
	t.Helper()
	dir := t.TempDir()
	at = func(name string) string { return filepath.Join(dir, "backlog", "tasks", filepath.FromSlash(name)) }
	for name, text := range files {
		write(t, at(name), text)
	}
	return open(t, dir, planfile.Options{Folders: true, Now: later, MaxBytes: 1 << 20}), at
}

const plans = "backlog/tasks"

// parts takes the text of a folder apart.
func parts(t testing.TB, f planfile.File) (names []string, texts map[string]string) {
	t.Helper()
	files, ok := plan.SplitFiles(f.Text)
	require.True(t, ok, "%q", f.Text)
	texts = map[string]string{}
	for _, p := range files {
		names, texts[p.Name] = append(names, p.Name), p.Text
	}
	return names, texts
}

// listed returns the files that a plan is read from.
func listed(t testing.TB, r *planfile.Root, rel string) []string {
	t.Helper()
	f := readOf(t, r, rel, nil)
	require.False(t, f.Unstable)
	names, _ := parts(t, f)
	return names
}

// A folder in which something is younger than the clock of the file system can tell is read each time, and
// so is one with a file from the future.
func TestFolderThatIsYoungIsReadAgain(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": planText})
	young := open(t, filepath.Dir(filepath.Dir(at(""))), planfile.Options{Folders: true})
	f := readOf(t, young, plans, nil)
	require.False(t, f.Settled)
	ahead := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(at("a.md"), ahead, ahead))
	f = readOf(t, r, plans, nil)
	require.Equal(t, ahead.UnixMilli(), f.Stat.MtimeMs())
	f = readOf(t, r, plans, &f)
	require.False(t, f.Unchanged)
}

// The files of a folder have one limit together, and there is one for their number.
func TestFaultF5_FolderThatIsTooLarge(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": strings.Repeat("a", 600<<10), "b.md": strings.Repeat("b", 424<<10)})
	readOf(t, r, plans, nil)
	write(t, at("c.md"), "c")
	_, err := r.Read(plans, nil)
	e := refused(t, err, plans, planfile.TooLarge)
	require.EqualValues(t, 1<<20, e.Limit)
	require.EqualValues(t, 1<<20+1, e.Size)

	crowd, at := folder(t, nil)
	require.NoError(t, os.MkdirAll(at(""), 0o755))
	for i := range 51 {
		require.NoError(t, os.WriteFile(at(fmt.Sprintf("task-%d.md", i)), nil, 0o644))
	}
	entries, files := crowd.Limits()
	require.Equal(t, 5000, files)
	crowd.Limit(entries, 50)
	_, err = crowd.Read(plans, nil)
	e = refused(t, err, plans, planfile.TooManyFiles)
	require.EqualValues(t, 51, e.Size)
	require.EqualValues(t, 50, e.Limit)
	require.ErrorContains(t, err, "51")
	require.NoError(t, os.Remove(at("task-7.md")))
	require.Len(t, listed(t, crowd, plans), 50)
}
