package file_test

import (
	"errors"
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
	f, err := r.Read(rel, nil)
	require.NoError(t, err)
	require.False(t, f.Unstable)
	names, _ := parts(t, f)
	return names
}

func TestFolderIsOneTextInNaturalOrder(t *testing.T) {
	r, _ := folder(t, map[string]string{
		"task-10 - Ten.md": "ten", "task-2 - Two.md": "two", "task-2.10.md": "", "task-2.9.md": "x", "task-02.md": "zero", "Task-1.md": "one",
		".hidden.md": "no", "notes.txt": "no", "deep/task-3.md": "no",
	})
	f, err := r.Read("./backlog//tasks/", nil)
	require.NoError(t, err)
	names, texts := parts(t, f)
	require.Equal(t, []string{"Task-1.md", "task-2 - Two.md", "task-2.9.md", "task-2.10.md", "task-02.md", "task-10 - Ten.md"}, names)
	require.Equal(t, "two", texts["task-2 - Two.md"])
	require.Equal(t, plans, f.Path)
	require.True(t, f.Folder())
	require.True(t, f.Settled)
	require.EqualValues(t, len(f.Text), f.Stat.Size)
	require.Equal(t, []string{plans}, f.Folders())
}

// What a folder is read from is told by the names in it.
func TestFolderHasOneKindOfFiles(t *testing.T) {
	for kind, c := range map[string]struct{ there, want []string }{
		"notes beside plans":      {[]string{"01-CONTEXT.md", "01-02-PLAN.md", "01-01-PLAN.md", "01-01-SUMMARY.md"}, []string{"01-01-PLAN.md", "01-02-PLAN.md"}},
		"texts of tasks":          {[]string{"task_002.txt", "task_001.txt", "readme.md"}, []string{"task_001.txt", "task_002.txt"}},
		"any other":               {[]string{"epic.md", "002.md", "001.md", "sync.json"}, []string{"001.md", "002.md", "epic.md"}},
		"folders within":          {[]string{"02-b/02-01-PLAN.md", "01-a/01-01-PLAN.md", "01-a/01-01-SUMMARY.md", ".git/x-PLAN.md"}, []string{"01-a/01-01-PLAN.md", "02-b/02-01-PLAN.md"}},
		"no folders beside files": {[]string{"a.md", "01-a/01-01-PLAN.md"}, []string{"a.md"}},
	} {
		t.Run(kind, func(t *testing.T) {
			files := map[string]string{}
			for _, name := range c.there {
				files[name] = name
			}
			r, _ := folder(t, files)
			require.Equal(t, c.want, listed(t, r, plans))
		})
	}
}

// A file with every task says it all; the texts beside it are made from it.
func TestFolderWithAWholePlanIsThatFile(t *testing.T) {
	r, at := folder(t, map[string]string{"tasks.json": `{"tasks": []}`, "task_001.txt": "# Task ID: 1\n"})
	f, err := r.Read(plans, nil)
	require.NoError(t, err)
	require.Equal(t, `{"tasks": []}`, f.Text)
	require.True(t, f.Folder())
	f, err = r.Rewrite(plans, hash(f.Text), func(planfile.File) (string, error) { return `{"tasks": [1]}`, nil })
	require.NoError(t, err)
	require.Equal(t, `{"tasks": [1]}`, f.Text)
	has(t, at("tasks.json"), `{"tasks": [1]}`)
	require.NoError(t, os.Remove(at("tasks.json")))
	require.Equal(t, []string{"task_001.txt"}, listed(t, r, plans))
}

// A path may name a folder only where that was asked for: the result of a worker is never one.
func TestFoldersAreReadOnlyWhenAsked(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plans", "a.md"), planText)
	_, err := open(t, dir, planfile.Options{}).Read("plans", nil)
	refused(t, err, "plans", planfile.NotRegular)
}

// A folder without a plan is missing as a file is, and so is one that is not there.
func TestFolderWithoutPlansIsMissing(t *testing.T) {
	r, at := folder(t, map[string]string{"notes.txt": "x"})
	_, err := r.Read(plans, nil)
	e := refused(t, err, plans, planfile.Missing)
	require.False(t, e.WorkspaceGone)
	require.ErrorContains(t, err, "task_*.txt")
	require.NoError(t, os.RemoveAll(at("")))
	_, err = r.Read(plans, nil)
	refused(t, err, plans, planfile.Missing)
}

// What a folder said is used again while its list and all of its files are as they were.
func TestFolderIsReadAgainOnlyWhenItChanged(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": planText, "b.md": planText})
	last, err := r.Read(plans, nil)
	require.NoError(t, err)
	same := func() bool {
		t.Helper()
		f, err := r.Read(plans, &last)
		require.NoError(t, err)
		defer func() { last = f; last.Unchanged = false }()
		return f.Unchanged
	}
	require.True(t, same())
	for what, do := range map[string]func() error{
		"edited":  func() error { return os.WriteFile(at("a.md"), []byte("- [x] 1. first\n"), 0o644) },
		"added":   func() error { return os.WriteFile(at("c.md"), []byte(planText), 0o644) },
		"renamed": func() error { return os.Rename(at("b.md"), at("d.md")) },
		"saved by name": func() error {
			return errors.Join(os.WriteFile(at("t"), []byte("x"), 0o644), os.Rename(at("t"), at("a.md")))
		},
		"removed": func() error { return os.Remove(at("a.md")) },
	} {
		write(t, at("a.md"), planText)
		write(t, at("b.md"), planText)
		_ = same()
		require.True(t, same(), "before: %s", what)
		require.NoError(t, do())
		require.False(t, same(), what)
	}
	_ = same()
	write(t, at("notes.txt"), "not a file of the plan")
	require.True(t, same())
	write(t, at("01-PLAN.md"), "another kind")
	require.False(t, same())
}

// A folder in which something is younger than the clock of the file system can tell is read each time, and
// so is one with a file from the future.
func TestFolderThatIsYoungIsReadAgain(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": planText})
	young := open(t, filepath.Dir(filepath.Dir(at(""))), planfile.Options{Folders: true})
	f, err := young.Read(plans, nil)
	require.NoError(t, err)
	require.False(t, f.Settled)
	ahead := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(at("a.md"), ahead, ahead))
	f, err = r.Read(plans, nil)
	require.NoError(t, err)
	require.Equal(t, ahead.UnixMilli(), f.Stat.MtimeMs())
	f, err = r.Read(plans, &f)
	require.NoError(t, err)
	require.False(t, f.Unchanged)
}

// A file goes between the list and its reading, or comes: the list is made anew.
func TestFolderIsReadAgainWhenItsListChanges(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a", "b.md": "b"})
	once := 0
	r.BetweenStats(func() {
		if once++; once == 1 { // when the first one is read
			require.NoError(t, os.Rename(at("b.md"), at("c.md")))
		}
	})
	require.Equal(t, []string{"a.md", "c.md"}, listed(t, r, plans))
}

// Two files are saved together, and the first one has been read: what comes out has both saves.
func TestFolderIsNotHalfOfOneSaveAndHalfOfAnother(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "old", "b.md": "old"})
	reads := 0
	r.BetweenStats(func() {
		if reads++; reads == 2 { // when the second one is read
			write(t, at("a.md"), "new a")
			write(t, at("b.md"), "new b")
		}
	})
	f, err := r.Read(plans, nil)
	require.NoError(t, err)
	require.False(t, f.Unstable)
	_, texts := parts(t, f)
	require.Equal(t, map[string]string{"a.md": "new a", "b.md": "new b"}, texts)
}

func TestFolderThatNeverRestsIsUnstable(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a"})
	n := 0
	r.BetweenStats(func() {
		n++
		write(t, at("a.md"), strings.Repeat("a", n+1))
	})
	f, err := r.Read(plans, nil)
	require.NoError(t, err)
	require.True(t, f.Unstable)
	require.False(t, f.Settled)
}

// The files of a folder have one limit together, and there is one for their number.
func TestFaultF5_FolderThatIsTooLarge(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": strings.Repeat("a", 600<<10), "b.md": strings.Repeat("b", 424<<10)})
	_, err := r.Read(plans, nil)
	require.NoError(t, err)
	write(t, at("c.md"), "c")
	_, err = r.Read(plans, nil)
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

// The folder goes and comes again, and its place is taken by a file in between.
func TestFaultF10_FolderComesAndGoes(t *testing.T) {
	r, at := folder(t, map[string]string{"a.md": "a"})
	last, err := r.Read(plans, nil)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(at("")))
	_, err = r.Read(plans, &last)
	refused(t, err, plans, planfile.Missing)
	require.NoError(t, os.WriteFile(filepath.Clean(at("")), []byte(planText), 0o644))
	f, err := r.Read(plans, &last)
	require.NoError(t, err)
	require.Equal(t, planText, f.Text)
	require.False(t, f.Folder())
	require.NoError(t, os.Remove(filepath.Clean(at(""))))
	write(t, at("b.md"), "b")
	f, err = r.Read(plans, &f)
	require.NoError(t, err)
	names, _ := parts(t, f)
	require.Equal(t, []string{"b.md"}, names)
}
