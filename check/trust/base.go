package trust

import (
	"fmt"
	"maps"
	"slices"
)

// A Base holds the accepted states of the protected files: those before the work, and those that a person accepted later.
type Base struct {
	// Patterns choose the files.
	Patterns []string `json:"patterns"`
	// Files has the accepted states of each file: hashes, and "" for a file that is not there.
	Files map[string][]string `json:"files"`
	// Asked has, by the id of a run, the states that a person was asked about last.
	Asked map[string]Asking `json:"asked"`
}

// An Asking is a question to a person: whether these states of files are acceptable.
type Asking struct {
	Check string            `json:"check"` // that protects them
	Round int               `json:"round"` // the number of the submission
	Files map[string]string `json:"files"`
}

// NewBase returns a base that accepts these files.
func NewBase(patterns []string, files map[string]string) *Base {
	b := &Base{Patterns: sorted(patterns), Files: map[string][]string{}, Asked: map[string]Asking{}}
	for name, hash := range files {
		b.Files[name] = []string{hash}
	}
	return b
}

func sorted(patterns []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(patterns)))
}

// HasPatterns reports whether the base has the files of exactly these patterns.
func (b *Base) HasPatterns(patterns []string) bool { return slices.Equal(b.Patterns, sorted(patterns)) }

// Changed returns the names of the files that are not in an accepted state, in ascending order. A file
// that the base lacks counts as not there.
func (b *Base) Changed(files map[string]string) (names []string) {
	for _, name := range b.all(files) {
		if !slices.Contains(b.accepted(name), files[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Accept adds the states of the files to the accepted ones. SaveBase makes that last.
func (b *Base) Accept(files map[string]string) {
	for _, name := range b.all(files) {
		if accepted := b.accepted(name); !slices.Contains(accepted, files[name]) {
			b.Files[name] = append(accepted, files[name])
		}
	}
}

// all returns the names of the files of the base and of other files.
func (b *Base) all(files map[string]string) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(b.Files)), maps.Keys(files))
	slices.Sort(names)
	return slices.Compact(names)
}

func (b *Base) accepted(name string) []string {
	if states, ok := b.Files[name]; ok {
		return states
	}
	return []string{""}
}

// Base returns the base of the workspace, or nil if there is none.
func (p Place) Base() (*Base, error) {
	path, err := p.record(baseName)
	if err != nil {
		return nil, err
	}
	b := NewBase(nil, nil)
	found, err := load(path, b)
	if err != nil || !found {
		return nil, err
	}
	if b.Files == nil || b.Asked == nil {
		return nil, fmt.Errorf("%s has null for files or asked", path)
	}
	return b, nil
}

// SaveBase replaces the base of the workspace.
func (p Place) SaveBase(b *Base) error {
	path, err := p.record(baseName)
	if err != nil {
		return err
	}
	return write(path, b)
}
