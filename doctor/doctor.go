// Package doctor judges whether waybill can do its work: from facts that somebody else has gathered it makes
// findings, by a table with one row for each check.
//
// It refuses to gather: it reads no file, asks no clock, and mends nothing. Every store tells what it knows of itself
// in the same Facts, with findings of its own for what only it can judge, so that another kind of store needs other
// rows of the table and nothing else.
package doctor

import (
	"fmt"
	"io"
	"reflect"
)

// A Level says how a check ended.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warn    Level = "warn"    // it works, but not as it should
	Fail    Level = "fail"    // it cannot be used, or holds what was not written
	Skipped Level = "skipped" // there was nothing to look at, or no way to
)

// A Finding is what one check has found.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`         // what was found, one sentence
	Fix   string `json:"fix,omitzero"` // what to do about it

	bare string
}

// Bare gives the sentence without anything in it that is not waybill's own word or a number: no path, no name, no
// error, nothing that a person or an agent has written.
func (f Finding) Bare() string { return f.bare }

// A Known is a word that may leave this machine, because it is from a list in this program or its version.
type Known string

// Find makes a finding from a sentence, as fmt.Sprintf does.
func Find(check string, level Level, fix, format string, args ...any) Finding {
	return Finding{
		Check: check, Level: level, Fix: fix,
		Text: fmt.Sprintf(format, args...), bare: fmt.Sprintf(format, bared(args)...),
	}
}

// bared puts a dot for everything but what is allowed: numbers, truth values, and words that are Known.
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
		return false // even one that is a number may say more
	}
	kind := reflect.ValueOf(arg).Kind()
	return kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Float64
}

// hidden is printed as a dot, whatever the format asks for.
type hidden struct{}

func (hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "…") }

// A Part is what a check belongs to. It decides what the program exits with.
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

// Parts gives all parts, in the order of the table.
func Parts() []Part { return []Part{ThisProgram, TheWorkspace, TheStore, TheDoors, ThePlans, TheWork} }

// A Check is one row of the table.
type Check struct {
	Name  string
	Part  Part
	Looks string // what it looks at, a sentence without its end
	judge func(f *Facts, c *chart)
	of    keeping
}

// A keeping is how a store is kept; the zero value is for checks that do not care.
type keeping int

const (
	inFile keeping = iota + 1
	inDatabase
)

// on reports whether a check looks at such a store. Where none was looked at, those of files are told of.
func (k keeping) on(s Store) bool {
	return k == 0 || (k == inDatabase) == (s.Server != nil)
}

// Table gives all checks, in the order in which they are told.
func Table() []Check {
	var all []Check
	for _, rows := range [][]Check{programChecks(), workspaceChecks(), storeChecks(), doorChecks(), planChecks(), workChecks()} {
		all = append(all, rows...)
	}
	return all
}

// Examine makes the findings of all checks that are about such a store: at least one for each.
func Examine(f *Facts) []Finding {
	var all []Finding
	for _, check := range Table() {
		if !check.of.on(f.Store) {
			continue
		}
		c := chart{name: check.Name}
		check.judge(f, &c)
		if len(c.found) == 0 {
			c.skip("what it looks at was not reached")
		}
		all = append(all, c.found...)
	}
	return all
}

// Failed reports whether a check of that part has failed.
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

// chart collects what one check finds.
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

// own takes what the store has found itself under the name of the check.
func own(f *Facts, c *chart) {
	for _, finding := range f.Store.Findings {
		if finding.Check == c.name {
			c.found = append(c.found, finding)
		}
	}
}

// many writes how many there are of what a word names.
func many[N int | int64](n N, word string) Known {
	if n != 1 {
		word += "s"
	}
	return Known(fmt.Sprintf("%d %s", n, word))
}
