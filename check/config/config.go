// Package config reads the text of .waybill.toml, in which a team declares the checks of its workspace. It reports every
// mistake with its line, its column and what to write instead.
//
// It knows texts only: it opens no file, trusts nothing and runs nothing.
package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"waybill/internal/glob"
	"waybill/internal/lazyregexp"
)

const (
	// Name is the name of the file, at the top of a workspace.
	Name = ".waybill.toml"
	// MaxSize is the size of the largest file in bytes.
	MaxSize = 64 << 10
	// DefaultTimeout is the time limit of a check without its own.
	DefaultTimeout = 10 * time.Minute
	// MaxChecks bounds the checks of a file; a run cannot require more.
	MaxChecks = 32
	// MaxCommand bounds a command in bytes, so that a receipt can hold it.
	MaxCommand = 4 << 10

	maxTimeout = 24 * time.Hour
)

// A When says what a check is for.
type When string

// The values of When. The zero value is that of a check that was not declared in a file, and means the same as PerItem.
const (
	PerItem When = "item" // the check runs before an item is approved
	PerPlan When = "plan" // the check runs before a plan is completed
)

// A Check is a command that a person owns.
type Check struct {
	Name    string        // unique among the checks of a workspace
	Command string        // for a shell; "" with Argv
	Argv    []string      // a program and its arguments
	Timeout time.Duration // 0 means DefaultTimeout
	When    When
	Protect []string // patterns of files that the work must not change, relative to the workspace
	Line    int      // in the file, or 0
}

// CommandLine returns the command as a person would type it.
func (c Check) CommandLine() string {
	if len(c.Argv) == 0 {
		return c.Command
	}
	words := make([]string, len(c.Argv))
	for i, word := range c.Argv {
		words[i] = word
		if !bareWord.Compiled().MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Protects reports whether a file, named by its path in the workspace, matches one of the patterns in Protect.
func (c Check) Protects(path string) bool {
	return slices.ContainsFunc(c.Protect, func(pattern string) bool {
		matches, err := glob.Compile(pattern)
		return err == nil && matches.MatchString(path)
	})
}

// bareWord matches text that a shell reads as one word without quotes.
var bareWord = lazyregexp.New(`^[A-Za-z0-9_./:@%+,=-]+$`)

// A Mistake is something in a file that must be mended, with what to write instead.
type Mistake struct {
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // in characters, from 1
	Text   string `json:"text"`
}

// String returns the mistake behind its place.
func (m Mistake) String() string { return fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Text) }

// Parse returns the checks of a file in their order, or all mistakes in it, in their order. Of errors in the syntax, only the first is known.
func Parse(text []byte) ([]Check, []Mistake) {
	root, fault := readTree(text)
	if fault != nil {
		return nil, []Mistake{*fault}
	}
	r := &reader{}
	r.root(root)
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b Mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		return nil, r.mistakes
	}
	return r.checks, nil
}
