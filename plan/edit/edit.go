// Package edit changes the status of one item in the text of a plan: the mark in its checkbox, or its status word or
// sign, and no other byte. It tries the marks that suit the plan and reads the result again. A mark is written only if
// exactly the requested item changes.
package edit

import (
	"fmt"
	"reflect"
	"strings"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/lex"
	"waybill/plan/read"
)

// Set returns the plan with another status of one item. Only the mark of that item changes. The status of other items
// stays the same, except for headings whose status follows from the items below them. The error is a *plan.ItemError or
// a *plan.MarkError.
func Set(r *plan.Reading, m plan.Marking) (plan.Marked, error) {
	e := editor{Reading: r, Marking: m, rows: r.Rows(), d: dialect.Of(r.Dialect)}
	if err := e.meant(); err != nil {
		return plan.Marked{}, err
	}
	if reason, message := e.unmarkable(); reason != "" {
		return plan.Marked{}, e.refuse(reason, message)
	}
	if e.entry.Status == m.Status {
		at := int(e.entry.Mark)
		return plan.Marked{Text: e.rows.Text, Changed: plan.Span{Start: at, End: at}, Item: r.At(e.i)}, nil
	}
	marked, misread := e.try(m.Status)
	switch {
	case marked != nil:
		return *marked, nil
	case misread != "":
		return plan.Marked{}, e.refuse(plan.MarkMisread,
			fmt.Sprintf("the mark %q would change how other parts of the plan are read; edit line %d by hand", misread, e.entry.Line))
	}
	return plan.Marked{}, e.refuse(plan.MarkInexpressible, e.inexpressible())
}

// editor is one call of Set.
type editor struct {
	*plan.Reading
	plan.Marking
	rows  *plan.Rows
	d     *dialect.Dialect
	i     int32 // the item
	entry *plan.Entry
}

func (e *editor) refuse(reason plan.MarkReason, message string) *plan.MarkError {
	return &plan.MarkError{Plan: e.Plan, ItemID: e.ItemID, Reason: reason, Lines: e.lines(), Message: message}
}

// lines returns the lines of the items with the requested id.
func (e *editor) lines() (lines []int) {
	for i := range e.rows.Entries {
		if e.rows.Entries[i].ID == e.ItemID {
			lines = append(lines, int(e.rows.Entries[i].Line))
		}
	}
	return lines
}

// meant finds the requested item.
func (e *editor) meant() error {
	lines := e.lines()
	listed := strings.Trim(strings.ReplaceAll(fmt.Sprint(lines), " ", ", "), "[]")
	switch {
	case len(lines) == 0:
		return &plan.ItemError{Plan: e.Plan, ItemID: e.ItemID}
	case e.Line == 0 && len(lines) > 1:
		return e.refuse(plan.MarkAmbiguous, fmt.Sprintf("it is on the lines %s: name one with line", listed))
	}
	e.i = -1
	for i := range e.rows.Entries {
		one := &e.rows.Entries[i]
		if one.ID != e.ItemID || e.Line != 0 && int(one.Line) != e.Line {
			continue
		}
		if e.i >= 0 {
			return e.refuse(plan.MarkAmbiguous, fmt.Sprintf("it is on line %d of more than one file, in %s and in %s: give one of them another id",
				e.Line, e.rows.Where(e.i), e.rows.Where(int32(i))))
		}
		e.i, e.entry = int32(i), one
	}
	if e.i < 0 {
		return e.refuse(plan.MarkElsewhere, fmt.Sprintf("it is not on line %d, but on line %s: read the plan again", e.Line, listed))
	}
	return nil
}

// unmarkable returns why an item cannot get any other status, or "".
func (e *editor) unmarkable() (reason plan.MarkReason, message string) {
	one := e.entry
	switch {
	case !e.d.Writable():
		return plan.MarkForeign, fmt.Sprintf("waybill reads plans of the dialect %s but does not change them; edit line %d by hand", e.Dialect, one.Line)
	case one.Withdrawn:
		return plan.MarkWithdrawn, fmt.Sprintf("it is struck through on line %d, which overrules its mark; remove the ~~ first", one.Line)
	case one.Follows && one.Derived != 0:
		return plan.MarkBoxless, fmt.Sprintf("line %d has no box to mark: its status follows from the items below it, so set those", one.Line)
	case one.MarkEnd == 0 && e.d.Rows:
		return plan.MarkBoxless, fmt.Sprintf("the row on line %d has no cell for its status, or more cells than its header", one.Line)
	case one.MarkEnd == 0:
		return plan.MarkBoxless, fmt.Sprintf("line %d has no box to mark: add one, or add items with boxes below it", one.Line)
	case one.Place == plan.InFence:
		return plan.MarkHidden, fmt.Sprintf("its box on line %d is in a code fence; move it out first", one.Line)
	case one.Place == plan.InComment:
		return plan.MarkHidden, fmt.Sprintf("its box on line %d is in a comment; move it out first", one.Line)
	case e.quoted():
		return plan.MarkQuoted, fmt.Sprintf("its box on line %d is in a block quote; move it out first", one.Line)
	}
	return "", ""
}

// quoted reports whether the mark is in a block quote.
func (e *editor) quoted() bool {
	before := e.rows.Text[:e.entry.Mark]
	before = before[strings.LastIndexAny(before, "\r\n")+1:]
	return strings.HasPrefix(lex.Trim(strings.TrimPrefix(before, lex.BOM)), ">")
}

// try returns the plan with the first mark for a status that changes only the item. misread is a mark that would change
// other parts as well.
func (e *editor) try(status plan.Status) (marked *plan.Marked, misread string) {
	tried := map[string]bool{"": true}
	for _, mark := range e.candidates(status) {
		if tried[mark] {
			continue
		}
		tried[mark] = true
		text := e.replaced(mark)
		after, err := read.Read(text, e.Hints())
		if err != nil || after.Len() <= int(e.i) || after.Rows().Entries[e.i].Status != status {
			continue
		}
		switch item, rest := after.At(e.i), e.restStays(after); {
		case rest && sameText(e.At(e.i), item):
			return &plan.Marked{Text: text, Changed: plan.Span{Start: int(e.entry.Mark), End: int(e.entry.MarkEnd)}, Item: item}, ""
		case !rest && misread == "":
			misread = mark
		}
	}
	return nil, misread
}

// restStays reports whether nothing but the status of the item changed, and what follows from it.
func (e *editor) restStays(after *plan.Reading) bool {
	if after.Dialect != e.Dialect || after.Checkboxes != e.Checkboxes || after.Len() != e.Len() {
		return false
	}
	for k := range e.rows.Entries {
		was, is := &e.rows.Entries[k], &after.Rows().Entries[k]
		follows := was.Follows && is.Follows
		if was.ID != is.ID || was.Line != is.Line || int32(k) != e.i && !follows && was.Status != is.Status {
			return false
		}
	}
	return true
}

// sameText reports whether two items differ at most in their statuses, marks and dependencies.
func sameText(was, is plan.Item) bool {
	for _, one := range [...]*plan.Item{&was, &is} {
		one.Status, one.DerivedStatus, one.Mark, one.DependsOn, one.Behind = 0, 0, plan.Span{}, nil, nil
	}
	return reflect.DeepEqual(was, is)
}

// replaced returns the text with another mark. For a folder plan it rebuilds the list of files, which contains their
// sizes.
func (e *editor) replaced(mark string) string {
	text, from, to := e.rows.Text, int(e.entry.Mark), int(e.entry.MarkEnd)
	if e.rows.Files == nil {
		return text[:from] + mark + text[to:]
	}
	files := make([]plan.PlanFile, len(e.rows.Files))
	for k, f := range e.rows.Files {
		files[k] = plan.PlanFile{Name: f.Name, Text: text[f.From:f.To]}
		if f.From <= from && to <= f.To {
			files[k].Text = text[f.From:from] + mark + text[to:f.To]
		}
	}
	return plan.JoinFiles(files)
}

// inexpressible returns a message that a status has no mark here, and lists the statuses that have one.
func (e *editor) inexpressible() string {
	var can []string
	for s := plan.Pending; s <= plan.Skipped; s++ {
		if marked, misread := e.try(s); s == e.entry.Status || marked != nil || misread != "" {
			can = append(can, s.String())
		}
	}
	list, line := strings.Join(can, ", "), e.entry.Line
	switch {
	case e.d.Rows:
		return fmt.Sprintf("no mark for %s fits into its cell on line %d, only those for %s", e.Status, line, list)
	case e.headed():
		return fmt.Sprintf("no word or sign for %s fits a heading such as the one on line %d, only those for %s; "+
			"remove its own status by hand, and it follows the items below it", e.Status, line, list)
	case e.entry.Worded:
		return fmt.Sprintf("the dialect %s has no mark for %s, only for %s", e.Dialect, e.Status, list)
	}
	return fmt.Sprintf("the dialect %s has no mark for %s, only for %s; define one in a legend of the plan, such as %q",
		e.Dialect, e.Status, list, "[!] = "+strings.ReplaceAll(e.Status.String(), "_", " "))
}
