// Package dialect describes the plans of each tool: one file per tool with a row of data and at most three small
// functions. To add a dialect, write such a file and add its row to the lists in registry.go. Elsewhere a dialect is named
// only where its files lie (plan/places), and where its tasks are records (plan/record).
package dialect

import (
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// Dialect describes the plans of one tool.
type Dialect struct {
	Name string
	// Label parses the text after a checkbox. nil means a number and a title.
	Label func(text string, l *Label)
	// Head parses the text of a heading that is a task. nil means that headings are no tasks.
	Head func(text string) (lex.Head, bool)
	// Home reports whether a heading begins the section that contains all tasks. nil means that all sections may.
	Home func(heading string) bool
	// Named returns the part of a heading that does not change during the work, for derived ids below it.
	Named func(heading string) string

	// Fits returns how many checkboxes and headings of a plan the dialect explains, 0 if it does not fit at all. Of
	// dialects that explain as much, the first one in All wins.
	Fits func(s *Survey) int
	// Looks are what speaks for the dialect, as far as a plan shows it.
	Looks []Look
	// Folders are the path prefixes that only this tool writes to.
	Folders []string
	// Criteria is the file beside a plan that has its acceptance criteria: "" means requirements.md, and "." the plan.
	Criteria string

	// Marks are the meanings of marks other than a space and x. Boxes and Words are written for each status.
	Marks        []Meaning
	Boxes, Words Signs
	Texts
	Traits
}

// Texts are for messages: Usable are the valid marks, Wanted says how to make a checkbox without id a task, Missing
// explains why a file with checkboxes has no item, and Stop is the separator between an id and a title.
type Texts struct{ Usable, Wanted, Missing, Stop string }

// Traits are what distinguishes the plans of a dialect besides their marks and words.
type Traits struct {
	// Unnumbered means that a checkbox without id is an item with a derived id in every plan of the dialect.
	Unnumbered bool
	// Tracked means that headings have checkboxes, and are the parents of the lines below them.
	Tracked bool
	// Groups means that headings such as "1. Model" have the numbers of the ids below them.
	Groups bool
	// Phased means that an item waits for the phase above its own, and that sentences below "Dependencies" are read.
	Phased bool
	// Zero means that 1.0 is the parent of 1.1.
	Zero bool
	// Sign means that list items with a sign are tasks.
	Sign bool
	// Rows means that the rows of tables are the tasks. Records means that the files of a folder, or their elements, are.
	Rows, Records bool
	// Anywhere means that items alone are enough evidence for the dialect.
	Anywhere bool
	// NumberedHeads means that the tasks are headings with a bare number.
	NumberedHeads bool
}

// Label is the parsed text after a checkbox.
type Label struct {
	// InHead and Full are set by the caller: the checkbox is in a heading, and all details are wanted.
	InHead, Full bool

	ID, Title string
	// Step means that the id is the number of a step, relative to the task above.
	Step bool
	// Stepped means that the word Step is before the number.
	Stepped bool
	// Optional means that a star follows the id.
	Optional bool
	// Tight means that no space follows the id.
	Tight               bool
	Parallel, Withdrawn bool
	// Leads makes the item the parent of the lines below it, named after its title.
	Leads bool
	// Waits is a list of dependencies.
	Waits                   string
	Stories, Files, Details []string
}

// Meaning is the status for a mark, and a warning for a use of it.
type Meaning struct {
	Mark    string
	Status  plan.Status
	Warning string
}

// Signs are the signs of each status. The first sign is written, unless the plan already uses another one. If the first
// is "", a sign is written only if the plan uses it.
type Signs [plan.Skipped + 1][]string

// closed are the marks of dialects that know only a space and x.
func closed(where string) []Meaning {
	said := func(mark string) Meaning {
		return Meaning{mark, plan.Pending, `the mark "` + mark + `" has no meaning in ` + where + `, so the item is open: explain it in a legend, such as "[` + mark + `] = skipped"`}
	}
	return []Meaning{said("~"), said("-")}
}

var (
	twoMarks   = Signs{plan.Pending: {" "}, plan.Completed: {"x", "X"}}
	threeMarks = Signs{plan.Pending: {" "}, plan.InProgress: {"-"}, plan.Completed: {"x", "X"}}
	// headWords are the words of headings. An open status is written only if the plan already has one in a heading.
	headWords = Signs{
		plan.Pending: {"", "PENDING"}, plan.InProgress: {"IN PROGRESS", "⏳"}, plan.Completed: {"COMPLETED", "✅"}, plan.Blocked: {"BLOCKED"},
		plan.Skipped: {"SKIPPED"},
	}
)

const (
	spaceOrX   = "a space or x"
	spaceXDash = "a space, x or -"
	wantNumber = "put a number such as 1.2 and a space after the box to make it a task"
)

// HomeName is the name of the section with all tasks, for messages.
const HomeName = "Tasks / Subtasks"

// Parse parses the text after a checkbox.
func (d *Dialect) Parse(text string, l *Label) {
	text, l.Optional = lex.CutStar(text)
	if d.Label != nil {
		d.Label(text, l)
		return
	}
	l.ID, l.Title, l.Tight = lex.ReadLabel(text)
}

// Boxed reports whether the items are only checkboxes.
func (d *Dialect) Boxed() bool { return d.Head == nil && !d.Sign && !d.Rows && !d.Records }

// Numbered reports whether the items are only checkboxes with numbers.
func (d *Dialect) Numbered() bool { return d.Boxed() && !d.Phased && !d.Tracked && d.Home == nil }

// Group returns the number in a heading such as "1. Bread orders", or "".
func Group(heading string) string {
	number := heading[:len(heading)-len(strings.TrimLeft(heading, "0123456789"))]
	if number == "" || len(number) > lex.LongestID || !strings.HasPrefix(heading[len(number):], ". ") {
		return ""
	}
	return number
}

// IsPhase reports whether a heading names a phase: "Phase 2: Berths", "Phase A", "Phase IV", "Phase Two". "Phase
// notes" is not a phase.
func IsPhase(heading string) bool {
	const numbers = " one two three four five six seven eight nine ten "
	name, ok := lex.CutWord(heading, "Phase")
	if name = lex.Trim(name); !ok || name == "" {
		return false
	}
	if lex.IsDigit(name[0]) {
		return true
	}
	word := lex.FirstWord(name)
	return len(word) == 1 || word != "" && strings.Trim(word, "IVX") == "" || lex.IsOneOf(word, numbers)
}
