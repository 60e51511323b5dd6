// Package read parses plan files. It splits a text into blocks, finds the dialect that explains most of it, and reads
// the items in it. It opens no file, reads no clock and keeps no state between calls.
package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/lex"
	"waybill/plan/record"
)

// Read reads a plan. h may contain facts that are not in the text. The result depends only on both. The error is a
// *plan.ParseError: the bytes are no text, there are too many items, or a file that is not blank has no item in any
// dialect. A blank file is a reading without items. The caller sets Hash. The reading shares the memory of the text.
func Read(text string, h plan.Hints) (*plan.Reading, error) {
	r, err := read(text, h)
	if refusal, ok := errors.AsType[*plan.ParseError](err); ok {
		refusal.Path = h.Path
	}
	return r, err
}

func read(text string, h plan.Hints) (*plan.Reading, error) {
	if _, folder := plan.SplitFiles(text); folder {
		r, err := records(text, h)
		if r == nil && err == nil {
			err = &plan.ParseError{Reason: plan.ReasonNoItems, Message: "no task was found: no file of the folder is a task"}
		}
		return r, err
	}
	if err := checkText(text); err != nil {
		return nil, err
	}
	var fault error
	if record.Begins(text) {
		r, err := records(text, h)
		if r != nil {
			return r, nil
		}
		fault = err
	}
	notes := plan.NewRemarks(text, nil)
	lex.Broken(text, 0, len(text), notes)
	t, ok := block.Parse(text, notes, watch)
	f := file{text: text, h: h, t: t, notes: notes, fault: fault}
	if f.set = dialect.Of(h.Dialect); f.set == nil {
		f.set = dialect.Of(t.Override.Dialect)
	}
	switch {
	case f.set != nil && f.set.Records:
		return records(text, h)
	case !ok:
		return nil, tooLarge()
	}
	return f.read()
}

// fieldLooks are what the fields of watch show. The quiet ones say nothing about the order of items.
var fieldLooks = [...]dialect.Look{dialect.Looks, dialect.FieldLeverage, dialect.FieldPrompt, dialect.FieldBlocked, dialect.FieldBoundary}

// watch finds the lines that may say something about the order of items, or about the dialect.
var watch = block.NewWatch([]string{"Requirements:", "Leverage:", "Prompt:", "Blocked:", "Boundary:"}, 2, func(c byte) (all block.Traits) {
	if c == '*' || c == '(' || c >= utf8.RuneSelf || graph.Begins(c) || c == 'A' || c == 'S' {
		all = block.Labelled
	}
	if strings.IndexByte("*SsEe", c) >= 0 { // the first bytes of statusNames
		all |= block.Stating
	}
	return all
})

// tooLarge returns the error for a plan with too many items.
func tooLarge() error {
	return &plan.ParseError{Reason: plan.ReasonTooLarge, Message: fmt.Sprintf("the plan has more than %d items: split it into several files", block.MostItems)}
}

// records reads a plan whose tasks are files or elements. It returns nil for both results if the text is a list.
func records(text string, h plan.Hints) (*plan.Reading, error) {
	found, err := record.Read(text, h)
	if found == nil {
		return nil, err
	}
	r := plan.NewReading(found.Rows, h, found.Describe)
	r.Dialect, r.Evidence, r.Totals, r.Checkboxes = found.Dialect, found.Evidence, found.Totals, found.Checkboxes
	r.Diagnostics = found.Notes.Diagnostics()
	r.Totals.AddUnread(r.Diagnostics)
	return r, nil
}

// file is a text that is read, perhaps several times.
type file struct {
	text  string
	h     plan.Hints
	t     *block.Tree
	notes *plan.Remarks // of the blocks
	s     *dialect.Survey
	set   *dialect.Dialect // by the configuration or a comment, nil without one
	fault error            // why the text is no record, nil if it does not look like one
}

func (f *file) read() (*plan.Reading, error) {
	hint, _ := dialect.Folder(f.h.Path)
	f.s = survey(f.t, hint)
	d := f.set
	if d == nil {
		if d = choose(f.s); d == nil {
			d = dialect.Plain
		}
	}
	first := f.as(variant(d, f.s, f.set != nil))
	if first.rows.Len() > block.MostItems {
		return nil, tooLarge()
	}
	// Boxes without ids may as well be text in JSON that breaks off.
	named := slices.ContainsFunc(first.rows.Entries, func(e plan.Entry) bool { return !e.DerivedID })
	if first.rows.Len() > 0 && (!f.brokenJSON() || named) || blank(f.text) {
		return f.result(first), nil
	}
	if f.fault != nil {
		return nil, f.fault
	}
	if strings.Contains(f.text, "<task") {
		if r, _ := records(f.text, f.h); r != nil {
			return r, nil
		}
	}
	last := first
	for _, d := range dialect.First(hint) {
		if d == first.d || !d.Anywhere || f.set != nil {
			continue
		}
		if r := f.as(d); r.rows.Len() > 0 {
			return f.result(r), nil
		} else {
			last = r
		}
	}
	missing := `a task is a line such as "- [ ] 1.2 Write the report"`
	if f.set != nil {
		if missing = first.d.Missing; f.t.Checks == 0 && !first.d.Rows {
			missing = "no checkbox"
		}
	}
	return nil, noItems(f.t.Checks, last.notes.Diagnostics(), missing)
}

// brokenJSON reports whether the text looks like JSON with tasks that breaks off.
func (f *file) brokenJSON() bool {
	e, ok := errors.AsType[*plan.ParseError](f.fault)
	return ok && e.Reason == plan.ReasonInvalidJSON
}

// variant returns the dialect of the same name that explains most of a plan.
func variant(d *dialect.Dialect, s *dialect.Survey, set bool) *dialect.Dialect {
	hinted := *s
	hinted.Hinted = set || s.Hint != nil && s.Hint.Name == d.Name
	for _, other := range dialect.All {
		if other != d && other.Name == d.Name && other.Fits(&hinted) > d.Fits(&hinted) {
			return other
		}
	}
	return d
}

// as reads the text in a dialect. If the plan refers to ids that occur only in a fence or comment, it reads the text
// again and counts them.
func (f *file) as(d *dialect.Dialect) *reader {
	r := f.once(d, nil)
	if lost := r.lost(); lost != nil {
		r = f.once(d, lost)
	}
	return r
}

func (f *file) once(d *dialect.Dialect, keep map[string]bool) *reader {
	r := newReader(f.t, f.notes.Clone(), d, f.s)
	r.hide.keep = keep
	r.read()
	r.finish()
	return r
}

// finish resolves everything that depends on the end of the file.
func (r *reader) finish() {
	for _, i := range r.told.late {
		for stem := lex.Ancestor(r.rows.Entries[i].ID); stem != ""; stem = lex.Ancestor(stem) {
			if p := r.rows.Find(stem); p >= 0 {
				r.rows.Entries[i].Parent = p
				break
			}
		}
	}
	slices.SortStableFunc(r.rows.Rests, func(a, b plan.Rest) int { return int(a.Item - b.Item) })
	r.in.Barriers = r.d.Phased
	r.settled = graph.Settle(r.rows, r.notes, r.in)
}

// lost returns the ids that the plan depends on and that occur only in a fence or comment.
func (r *reader) lost() (lost map[string]bool) {
	for _, id := range r.settled.Unknown {
		if r.hide.hidden[id] {
			if lost == nil {
				lost = map[string]bool{}
			}
			lost[id] = true
		}
	}
	return lost
}

// result completes a reading.
func (f *file) result(r *reader) *plan.Reading {
	it := describer{text: f.text, d: r.d, found: r.tab.found, coded: r.coded, missing: f.t.Missing, rows: r.rows}
	r.rows.Whole = !r.d.Rows
	res := plan.NewReading(r.rows, f.h, it.describe)
	res.Checkboxes, res.Totals = f.t.Checks, r.settled.Totals
	f.name(r, res)
	r.tab.report(r.rows, r.notes)
	res.Evidence = r.marks.evidence(res.Dialect, res.Evidence)
	reporter{r}.reportBoxless()
	res.Diagnostics = r.notes.Diagnostics()
	res.Totals.AddUnread(res.Diagnostics)
	return res
}

// name determines the name of the dialect and the evidence for it.
func (f *file) name(r *reader, res *plan.Reading) {
	set := f.t.Override
	if set.Line > 0 && dialect.Of(set.Dialect) == nil {
		r.notes.Add(set.At, plan.SeverityError, "unknown_dialect", dialect.Unknown(set.Dialect))
	}
	if r.rows.Len() == 0 {
		return
	}
	res.Dialect = r.d.Name
	said := plan.Evidence{Line: set.Line, Dialect: set.Dialect, Signal: "comment that sets the dialect"}
	switch {
	case f.set != nil && f.h.Dialect == r.d.Name:
		res.Evidence = f.evidence(plan.Evidence{Dialect: r.d.Name, Signal: configured(&f.h)})
		if set.Line > 0 {
			res.Evidence = append(res.Evidence, said)
		}
	case f.set != nil && set.Dialect == r.d.Name:
		res.Evidence = f.evidence(said)
	default:
		first := &r.rows.Entries[0]
		res.Evidence = f.evidence(plan.Evidence{Line: int(first.Line), Dialect: r.d.Name, Signal: form(r, first)})
	}
}

// configured explains why the dialect is set.
func configured(h *plan.Hints) string {
	if h.Pattern == "" {
		return "set by configuration"
	}
	return "set by configuration for " + h.Pattern
}

// evidence returns the evidence for a dialect, followed by the evidence for others.
func (f *file) evidence(first plan.Evidence) []plan.Evidence {
	all := append(make([]plan.Evidence, 0, 4), first)
	hint, under := dialect.Folder(f.h.Path)
	if hint != nil {
		if e := (plan.Evidence{Dialect: hint.Name, Signal: "path that begins with " + under}); e != first {
			all = append(all, e)
		}
	}
	for l, line := range f.s.First {
		look := dialect.Look(l)
		owner := look.Owner()
		if line == 0 || owner == nil {
			continue
		}
		if hint != nil && hint.Shares(owner) {
			owner = hint
		}
		if e := (plan.Evidence{Line: line, Dialect: owner.Name, Signal: look.String()}); e != first {
			all = append(all, e)
		}
	}
	return all
}

// form describes the form of an item, to explain why a plan was read in its dialect.
func form(r *reader, e *plan.Entry) string {
	boxed := e.MarkEnd > 0 && !e.Worded
	text := r.t.Text[e.Mark:]
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	_, text, _ = strings.Cut(text, "]")
	text = lex.Trim(strings.TrimLeft(text, "*"))
	switch {
	case r.d.Rows:
		return dialect.Row.String()
	case !boxed && r.d.NumberedHeads:
		return "heading such as 1.1"
	case !boxed && r.d.Head != nil && r.s.First[dialect.HeadTaskGroup] == int(e.Line):
		return dialect.HeadTaskGroup.String()
	case !boxed && r.d.Head != nil:
		return dialect.HeadTask.String()
	case !boxed:
		return "line that begins with a sign such as ✅"
	case e.From < e.Mark && strings.ContainsAny(r.t.Text[e.From:e.Mark], "\r\n"):
		return "box below a " + dialect.HeadTask.String()
	case r.d.Tracked:
		if look, _ := dialect.TaskWord(text); look != dialect.Looks {
			return look.String()
		}
		return "box without id"
	case e.DerivedID:
		return "box without id"
	}
	return idForm(e.ID, text)
}

// idForm describes the form of the id after a checkbox.
func idForm(id, text string) string {
	_, _, file := dialect.FileID(lex.Unbold(text))
	number, _ := lex.TaskNumber(text)
	switch {
	case lex.IsTaskID(id):
		return "box with an id such as T001"
	case file:
		return "box with a file such as 001.md"
	case number != "":
		return "box with a number such as Task 1"
	case lex.IsID(id):
		return "box with a number"
	}
	return "box with an id"
}

// blank reports whether a text has only white space.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }) == ""
}

// noItems returns the error for a text without a task. Its cause is that of the first open checkbox, else of the first
// checkbox, else missing, which says what the dialect requires.
func noItems(checkboxes int, diagnostics []plan.Diagnostic, missing string) *plan.ParseError {
	e := &plan.ParseError{Reason: plan.ReasonNoItems, Checkboxes: checkboxes, Diagnostics: diagnostics}
	at := slices.IndexFunc(diagnostics, func(d plan.Diagnostic) bool { return d.NotATask && d.Open })
	if at < 0 {
		at = slices.IndexFunc(diagnostics, func(d plan.Diagnostic) bool { return d.NotATask })
	}
	switch {
	case at < 0:
		e.Message = "no task was found: " + missing
	case checkboxes == 1:
		e.Message = fmt.Sprintf("its only checkbox is not a task; line %d: %s", diagnostics[at].Line, diagnostics[at].Message)
	default:
		e.Message = fmt.Sprintf("none of its %d checkboxes is a task; line %d: %s", checkboxes, diagnostics[at].Line, diagnostics[at].Message)
	}
	return e
}

// checkText returns the error for bytes that are no text.
func checkText(src string) error {
	reason, at := lex.Binary(src)
	if reason == "" {
		return nil
	}
	notes := plan.NewRemarks(src, nil)
	notes.Add(at, plan.SeverityError, "", "")
	return &plan.ParseError{Reason: plan.ReasonNotText, Line: notes.Diagnostics()[0].Line, Offset: at, Message: reason}
}

// Meanings returns the meaning of the marks "-" and "~", which differ between tools, and of the marks in a legend. It
// returns nil for a plan whose tasks are not checkboxes.
func Meanings(r *plan.Reading) map[string]plan.Status {
	d := dialect.Of(r.Dialect)
	if r.Len() == 0 || d == nil || d.Records || d.Rows {
		return nil
	}
	k := marks{text: r.Rows().Text, d: d}
	found := map[string]plan.Status{"-": 0, "~": 0}
	for _, mark := range k.legend().Order() {
		found[mark] = 0
	}
	for mark := range found {
		m, _ := k.unusual(mark)
		found[mark] = max(m.Status, plan.Pending)
	}
	return found
}
