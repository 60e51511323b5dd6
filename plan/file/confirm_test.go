package file_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// The plan had the new text when something happened to it, and the writer said that nothing was written.
func TestNothingAfterTheSwapMeansThatNothingWasWritten(t *testing.T) {
	move := func(t *testing.T, path string) { require.NoError(t, os.Rename(path, path+"~")) }
	for name, row := range map[string]struct {
		happens func(t *testing.T, path string)
		asserts func(t *testing.T, f planfile.File, err error)
	}{
		"moved away": {move, unconfirmed},
		"replaced by a folder": {func(t *testing.T, path string) {
			move(t, path)
			require.NoError(t, os.Mkdir(path, 0o755))
		}, unconfirmed},
		"saved over with the mark": {func(t *testing.T, path string) { write(t, path, changed+"by hand\n") }, func(t *testing.T, f planfile.File, err error) {
			require.NoError(t, err)
			require.Equal(t, changed+"by hand\n", f.Text)
		}},
		"saved over without the mark": {func(t *testing.T, path string) { write(t, path, planText+"by hand\n") }, func(t *testing.T, _ planfile.File, err error) {
			c, ok := errors.AsType[*planfile.ConflictError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, planfile.ConflictError{Path: "tasks.md", Expected: hash(planText), Found: hash(planText + "by hand\n"), Swapped: true}, *c)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, path := bench(t)
			r.AfterExchange(func() { row.happens(t, path) })
			f, err := r.Rewrite("tasks.md", "", func(f planfile.File) (string, error) {
				return strings.Replace(f.Text, "- [ ] 1.", "- [x] 1.", 1), nil
			})
			row.asserts(t, f, err)
		})
	}
}

// unconfirmed asserts that the writer does not know what became of the text that it wrote.
func unconfirmed(t *testing.T, _ planfile.File, err error) {
	t.Helper()
	e, ok := errors.AsType[*planfile.WriteError](err)
	require.True(t, ok, "%v", err)
	require.True(t, e.Swapped)
	require.Empty(t, e.Left)
	require.ErrorContains(t, err, `plan "tasks.md" was written, but this could not be confirmed (unwritable): `)
}

// An editor saves the plan and moves it away to save it again, so that the first text cannot go back to its place.
// The file that has it was named nowhere.
func TestErrorNamesTheFileWithASavedText(t *testing.T) {
	if !exchanges {
		t.Skip("this system cannot exchange two names in one step")
	}
	r, dir, path := bench(t)
	r.AfterCheck(func() { write(t, path, planText+"by hand\n") })
	r.AfterExchange(func() {
		r.AfterExchange(nil)
		require.NoError(t, os.Rename(path, path+"~"))
	})
	_, err := r.Rewrite("tasks.md", "", check)
	e, ok := errors.AsType[*planfile.WriteError](err)
	require.True(t, ok, "%v", err)
	require.True(t, e.Swapped)
	require.ErrorContains(t, err, `what was saved meanwhile is kept in "`+e.Kept+`"`)
	has(t, dir+"/"+e.Kept, planText+"by hand\n")
	only(t, dir, "tasks.md~", e.Kept)
}
