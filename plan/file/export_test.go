package file

import (
	"os"
	"slices"
)

// FolderKinds returns the names of the files that a folder is read from, which a table of the documentation has.
func FolderKinds() []string { return slices.Clone(kinds) }

// Find returns the plans that Search finds.
func (r *Root) Find(patterns []string) ([]string, error) {
	found, err := r.Search(patterns)
	return found.Plans, err
}

// Folder reports whether the plan is a folder.
func (f *File) Folder() bool { return f.members != nil }

// BetweenStats makes every later Read call f after the bytes of a file are read and
// before they are checked for a concurrent change: the moment that no test could hit
// from outside.
func (r *Root) BetweenStats(f func()) { r.betweenStats = f }

// BeforeSwap makes every later Rewrite call f when the new text lies beside the file, and AfterCheck
// after its last look at the file: the moment that is left to others.
func (r *Root) BeforeSwap(f func()) { r.beforeSwap = f }

// AfterCheck: see BeforeSwap.
func (r *Root) AfterCheck(f func()) { r.afterCheck = f }

// AfterExchange makes every later Rewrite call f each time that it has exchanged the names of the plan and the
// temporary file.
func (r *Root) AfterExchange(f func()) { r.afterExchange = f }

// BusyIf makes f say which errors mean that another program holds a file for a moment, as only some
// systems have it.
func (r *Root) BusyIf(f func(error) bool) { r.busy = f }

// Limits returns how many entries of a folder are matched, and how many files a plan may have.
func (r *Root) Limits() (entries, files int) { return r.tree.maxEntries, r.maxFiles }

// Limit sets them, so that no test has to make as many files.
func (r *Root) Limit(entries, files int) { r.tree.maxEntries, r.maxFiles = entries, files }

// Emulate exchanges two files of a folder as systems do that cannot in one step.
func Emulate(dir, base, temp string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return site{dir: root, base: base}.emulate(temp)
}
