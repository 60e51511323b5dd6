package engine_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	planfile "waybill/plan/file"
)

// editors are the ways in which editors replace a file.
var editors = map[string]func(path, text string) error{
	// vim moves the file away, writes a new one of that name and removes the old one.
	"moved away": func(path, text string) error {
		return errors.Join(os.Rename(path, path+"~"), os.WriteFile(path, []byte(text), 0o644), os.Remove(path+"~"))
	},
	// sed -i writes a file beside it, which takes its name.
	"replaced": func(path, text string) error {
		return errors.Join(os.WriteFile(path+".sed", []byte(text), 0o644), os.Rename(path+".sed", path))
	},
	// Most others truncate the file and write it again.
	"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) },
}

// A save at any step of a write is kept. The item is set in it, or the writer reports a conflict, or the save
// overwrites the item.
func TestSaveWhileAnItemIsSetIsKept(t *testing.T) {
	for how, save := range editors {
		t.Run(how, func(t *testing.T) {
			eachPlanText(t, func(t *testing.T, dir, text, one, _ string) {
				theirs := strings.Replace(text, "end", "the end, says the editor", 1)
				story := ""
				atEachStep(t, dir, text, one, func() error {
					return save(filepath.Join(dir, "tasks.md"), theirs)
				}, func(t *testing.T, w writer, err error) {
					switch {
					case err != nil:
						story += "refused "
						requireConflict(t, err, text, theirs)
						require.Equal(t, theirs, fileText(t, dir))
						require.NoError(t, w.complete(t, one))
					case fileText(t, dir) == theirs:
						story += "saved over "
						require.NoError(t, w.complete(t, one))
					default:
						story += "saved before "
					}
					require.Equal(t, done(t, theirs, one), fileText(t, dir))
					requireNoOtherFiles(t, dir)
				})
				require.Regexp(t, "^(saved before )*(refused )+(saved over )*$", story)
			})
		})
	}
}

// A half-written file must not be replaced, because the editor would write the rest into the removed file.
func TestHalfSavedPlanIsNotWritten(t *testing.T) {
	eachPlanText(t, func(t *testing.T, dir, text, one, _ string) {
		var file *os.File
		half := strings.LastIndexByte(strings.TrimRight(text[:strings.Index(text, "end")], "\r\n"), '\n') + 1
		story := ""
		atEachStep(t, dir, text, one, func() (err error) {
			if file, err = os.Create(filepath.Join(dir, "tasks.md")); err == nil {
				_, err = file.WriteString(text[:half])
			}
			return err
		}, func(t *testing.T, _ writer, err error) {
			if err == nil {
				story += "truncated afterwards "
			} else {
				story += "refused "
				conflict, ok := errors.AsType[*planfile.ConflictError](err)
				require.True(t, ok, "%v", err)
				require.Equal(t, plan.Hash([]byte(text)), conflict.Expected)
			}
			_, err = file.WriteString(text[half:])
			require.NoError(t, errors.Join(err, file.Close()))
			require.Equal(t, text, fileText(t, dir))
			requireNoOtherFiles(t, dir)
		})
		require.Regexp(t, "^(refused )+(truncated afterwards )*$", story)
	})
}

func TestTruncatedPlanIsNotOneWithoutTheItem(t *testing.T) {
	eachPlanText(t, func(t *testing.T, dir, text, one, _ string) {
		w := newWriter(t, dir, planfile.Options{})
		require.NoError(t, os.Truncate(filepath.Join(dir, "tasks.md"), 0))
		conflict, ok := errors.AsType[*planfile.ConflictError](w.complete(t, one))
		require.True(t, ok)
		require.Equal(t, planfile.ConflictError{Path: "tasks.md", Expected: plan.Hash([]byte(text))}, *conflict)
		require.Empty(t, fileText(t, dir))
	})
}

// Repeated saves are all kept while items are set. If an editor has moved the plan away, the saved text stays in a
// file that the error names. A save may undo an item, so only the final items are checked.
func TestPersonWhoGoesOnSavingLosesNothing(t *testing.T) {
	if !exchanges {
		t.Skip("this system cannot exchange two names in one step")
	}
	const saves = 12
	for how, save := range editors {
		t.Run(how, func(t *testing.T) {
			eachPlanText(t, func(t *testing.T, dir, text, one, two string) {
				path := filepath.Join(dir, "tasks.md")
				w := newWriter(t, dir, planfile.Options{})
				kept := []string{"tasks.md"}
				over := make(chan struct{}) // closed by the person after the last save
				var wg sync.WaitGroup
				wg.Go(func() {
					defer close(over)
					last := "end"
					for i := range saves {
						now, err := textWith(path, last)
						last = fmt.Sprintf("note %d\n", i)
						if err = errors.Join(err, save(path, now+last)); err != nil {
							t.Error(err)
							return
						}
					}
				})
				wg.Go(func() { // ends with the person
					for {
						for _, item := range []string{one, two} {
							err := w.complete(t, item)
							if err != nil && !elsewhere(err) {
								t.Error(err)
							}
							if name := keptBy(err); name != "" {
								kept = append(kept, name)
							}
						}
						select {
						case <-over:
							return
						default:
						}
					}
				})
				wg.Wait()
				require.NoError(t, w.complete(t, one))
				require.NoError(t, w.complete(t, two))
				want := done(t, text, one, two)
				for i := range saves {
					want += fmt.Sprintf("note %d\n", i)
				}
				require.Equal(t, want, fileText(t, dir))
				if how != "moved away" {
					require.Len(t, kept, 1)
				}
				entries, err := os.ReadDir(dir)
				require.NoError(t, err)
				var names []string
				for _, entry := range entries {
					names = append(names, entry.Name())
				}
				require.ElementsMatch(t, kept, names)
			})
		})
	}
}

// keptBy returns the file with the saved text that an error names, or "".
func keptBy(err error) string {
	if e, ok := errors.AsType[*planfile.WriteError](err); ok {
		return e.Kept
	}
	if e, ok := errors.AsType[*planfile.ConflictError](err); ok {
		return e.Kept
	}
	return ""
}

// textWith waits until the plan contains the last save and returns its text.
func textWith(path, last string) (string, error) {
	const looks = 100_000
	for range looks {
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), last) {
			return string(text), err
		}
	}
	return "", fmt.Errorf("%q was saved and is lost", last)
}

// elsewhere reports whether a writer was refused because the file changed or seemed emptied.
func elsewhere(err error) bool {
	_, conflict := errors.AsType[*planfile.ConflictError](err)
	_, emptied := errors.AsType[*plan.ItemError](err)
	return conflict || emptied || errors.Is(err, planfile.Missing) || errors.Is(err, planfile.Unwritable)
}
