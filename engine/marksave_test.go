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

	"waybill/engine/planfile"
	"waybill/ledger"
)

// editors are the ways in which editors and tools put a new text into the place of an old one.
var editors = map[string]func(path, text string) error{
	// vim moves the file away, writes a new one of that name and removes the old one.
	"moved away": func(path, text string) error {
		return errors.Join(os.Rename(path, path+"~"), os.WriteFile(path, []byte(text), 0o644), os.Remove(path+"~"))
	},
	// sed -i writes a file beside it, which takes its name.
	"replaced": func(path, text string) error {
		return errors.Join(os.WriteFile(path+".sed", []byte(text), 0o644), os.Rename(path+".sed", path))
	},
	// Most others truncate the file and write it anew.
	"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) },
}

// A person saves while an item is being set, whenever that is, and however their editor does it. What they saved
// is in the file. The item is set in it, or the writer is told what it met, or they have saved over it in the end.
func TestSaveWhileAnItemIsSetIsKept(t *testing.T) {
	for how, save := range editors {
		t.Run(how, func(t *testing.T) {
			eachBoard(t, func(t *testing.T, dir, text, one, _ string) {
				theirs := strings.Replace(text, "end", "the end, says the editor", 1)
				story := ""
				eachMoment(t, dir, text, one, func() error {
					return save(filepath.Join(dir, "tasks.md"), theirs)
				}, func(t *testing.T, w writer, err error) {
					switch {
					case err != nil:
						story += "refused "
						met(t, err, text, theirs)
						require.Equal(t, theirs, fileText(t, dir))
						require.NoError(t, w.complete(t, one))
					case fileText(t, dir) == theirs:
						story += "saved over "
						require.NoError(t, w.complete(t, one))
					default:
						story += "saved before "
					}
					require.Equal(t, done(t, theirs, one), fileText(t, dir))
					alone(t, dir)
				})
				require.Regexp(t, "^(saved before )*(refused )+(saved over )*$", story)
			})
		})
	}
}

// An editor has truncated the file and written the first items when one of them is set. If another file took the
// place of that one now, the editor would write the rest into a file that has no name any more.
func TestHalfSavedPlanIsNotWritten(t *testing.T) {
	eachBoard(t, func(t *testing.T, dir, text, one, _ string) {
		var file *os.File
		half := strings.LastIndexByte(strings.TrimRight(text[:strings.Index(text, "end")], "\r\n"), '\n') + 1
		story := ""
		eachMoment(t, dir, text, one, func() (err error) {
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
				require.Equal(t, ledger.Hash([]byte(text)), conflict.Expected)
			}
			_, err = file.WriteString(text[half:])
			require.NoError(t, errors.Join(err, file.Close()))
			require.Equal(t, text, fileText(t, dir))
			alone(t, dir)
		})
		require.Regexp(t, "^(refused )+(truncated afterwards )*$", story)
	})
}

// An emptied file is that of an editor as well: its items are not gone.
func TestTruncatedPlanIsNotOneWithoutTheItem(t *testing.T) {
	eachBoard(t, func(t *testing.T, dir, text, one, _ string) {
		w := newWriter(t, dir, planfile.Options{})
		require.NoError(t, os.Truncate(filepath.Join(dir, "tasks.md"), 0))
		conflict, ok := errors.AsType[*planfile.ConflictError](w.complete(t, one))
		require.True(t, ok)
		require.Equal(t, planfile.ConflictError{Path: "tasks.md", Expected: ledger.Hash([]byte(text))}, *conflict)
		require.Empty(t, fileText(t, dir))
	})
}

// A person saves one note after the other while items are set. Every note stays. What was set and saved over by an
// editor that had read the plan before is theirs to lose, so the items are looked at in the end only.
func TestPersonWhoGoesOnSavingLosesNothing(t *testing.T) {
	if !exchanges {
		t.Skip("this system cannot exchange two names in one step")
	}
	const saves = 12
	for how, save := range editors {
		t.Run(how, func(t *testing.T) {
			eachBoard(t, func(t *testing.T, dir, text, one, two string) {
				path := filepath.Join(dir, "tasks.md")
				w := newWriter(t, dir, planfile.Options{})
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
							if err := w.complete(t, item); err != nil && !elsewhere(err) {
								t.Error(err)
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
				alone(t, dir)
			})
		})
	}
}

// textWith reads the plan when it has what was saved last. For a moment, until it is put back, another file may be
// in its place.
func textWith(path, last string) (string, error) {
	const looks = 100_000
	for range looks {
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), last) {
			return string(text), err
		}
	}
	return "", fmt.Errorf("%q was saved and is lost", last)
}

// elsewhere reports whether a writer was refused because somebody else was at the file. One who takes long
// between emptying a file and writing it, as on a busy disk, is believed to have emptied it.
func elsewhere(err error) bool {
	_, conflict := errors.AsType[*planfile.ConflictError](err)
	_, emptied := errors.AsType[*ledger.ItemError](err)
	return conflict || emptied || errors.Is(err, planfile.Missing) || errors.Is(err, planfile.Unwritable)
}
