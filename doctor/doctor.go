// Package doctor judges whether waybill can work. It turns facts from the caller into findings, by a table with one
// row for each check.
//
// It refuses to collect facts: it reads no file and no clock, and repairs nothing. Each kind of store reports itself
// in Facts, with findings of its own for facts that only it can judge.
package doctor

import (
	"fmt"
	"io"
	"reflect"
)

// A Level is the outcome of a check.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warn    Level = "warn"    // it works, but not as intended
	Fail    Level = "fail"    // it cannot be used, or has wrong content
	Skipped Level = "skipped" // there was nothing to check, or no way to
)

// A Finding is one result of a check.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`         // the finding, one sentence
	Fix   string `json:"fix,omitzero"` // remedy

	bare string
}

// Bare returns the sentence with only waybill's own words and numbers: no path, no name, no error, and no text of a
// person or an agent.
func (f Finding) Bare() string { return f.bare }

// A Known is a word that may leave this machine: it comes from a list in this program or is its version.
type Known string

// Find returns a finding with a formatted sentence.
func Find(check string, level Level, fix, format string, args ...any) Finding {
	return Finding{
		Check: check, Level: level, Fix: fix,
		Text: fmt.Sprintf(format, args...), bare: fmt.Sprintf(format, bared(args)...),
	}
}

// bared replaces everything but numbers, booleans and Known words with a dot.
func bared(args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = arg
		if !allowed(arg) {
			safe[i] = hidden{}
		}
	}
	return safe
}

func allowed(arg any) bool {
	switch arg.(type) {
	case Known, Level:
		return true
	case error:
		return false // a formatter may write more than a number
	}
	kind := reflect.ValueOf(arg).Kind()
	return kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Float64
}

// hidden prints as a dot in every format.
type hidden struct{}

func (hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "…") }

// A Part groups checks. It decides the exit status of the program.
type Part string

// The parts.
const (
	ThisProgram  Part = "program"
	TheWorkspace Part = "workspace"
	TheStore     Part = "store"
	TheDoors     Part = "doors"
	ThePlans     Part = "plans"
	TheWork      Part = "work"
)

// Parts returns all parts, in the order of the table.
func Parts() []Part { return []Part{ThisProgram, TheWorkspace, TheStore, TheDoors, ThePlans, TheWork} }

// A Check is one row of the table.
type Check struct {
	Name  string
	Part  Part
	Looks string // subject, as a sentence without its end
	judge func(f *Facts, c *chart)
	of    keeping
}

// A keeping is a kind of store; zero stands for checks that apply to all.
type keeping int

const (
	inFile keeping = iota + 1
	inDatabase
)

// on reports whether a check applies to the kind of store. Without a store, checks of files apply.
func (k keeping) on(s Store) bool {
	return k == 0 || (k == inDatabase) == (s.Server != nil)
}

// Table returns all checks, in the order of their output.
func Table() []Check {
	var all []Check
	for _, rows := range [][]Check{programChecks(), workspaceChecks(), storeChecks(), doorChecks(), planChecks(), workChecks()} {
		all = append(all, rows...)
	}
	return all
}

// Examine returns at least one finding for each check that applies to the store.
func Examine(f *Facts) []Finding {
	var all []Finding
	for _, check := range Table() {
		if !check.of.on(f.Store) {
			continue
		}
		c := chart{name: check.Name}
		check.judge(f, &c)
		if len(c.found) == 0 {
			c.skip("this check did not run because an earlier one failed")
		}
		all = append(all, c.found...)
	}
	return all
}

// Failed reports whether a check of the part failed.
func Failed(found []Finding, part Part) bool {
	parts := map[string]Part{}
	for _, check := range Table() {
		parts[check.Name] = check.Part
	}
	for _, f := range found {
		if f.Level == Fail && parts[f.Check] == part {
			return true
		}
	}
	return false
}

// chart collects the findings of one check.
type chart struct {
	name  string
	found []Finding
}

func (c *chart) add(level Level, fix, format string, args ...any) {
	c.found = append(c.found, Find(c.name, level, fix, format, args...))
}

func (c *chart) ok(format string, args ...any)        { c.add(OK, "", format, args...) }
func (c *chart) warn(fix, format string, args ...any) { c.add(Warn, fix, format, args...) }
func (c *chart) fail(fix, format string, args ...any) { c.add(Fail, fix, format, args...) }
func (c *chart) skip(why string)                      { c.add(Skipped, "", "%s", Known(why)) }

// own adds the store's own findings for the check.
func own(f *Facts, c *chart) {
	for _, finding := range f.Store.Findings {
		if finding.Check == c.name {
			c.found = append(c.found, finding)
		}
	}
}

// many returns a count with its noun.
func many[N int | int64](n N, word string) Known {
	if n != 1 {
		word += "s"
	}
	return Known(fmt.Sprintf("%d %s", n, word))
}
