// Package record reads plans that are not lists of checkboxes: one file per task, or tasks in JSON or in elements, as
// one file or as a folder. It refuses to guess: a file that looks like a list is left to the reader of lists.
package record

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/criteria"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// Result is a plan of records.
type Result struct {
	Dialect  string
	Evidence []plan.Evidence
	Rows     *plan.Rows
	Notes    *plan.Remarks
	Totals   plan.Totals
	// Checkboxes is the number of checkboxes. None of them is a task.
	Checkboxes int
	// Describe fills in the description of an item.
	Describe func(i int32, it *plan.Item)
}

// form is the form in which a file describes work.
type form uint8

const (
	formNone form = iota
	formTaskJSON
	formBacklog
	formTaskText
	formEpicTask
	formGSD
	forms
)

// A tool is one dialect of records. Its own file states it.
type tool struct {
	dialect  string
	item     string // the kind of its items, as evidence
	read     func(x *records)
	describe func(text string, e *plan.Entry, it *plan.Item)
}

// formsOf are the tool of each form, and the evidence for it.
var formsOf = [forms]struct {
	*tool
	signal string
}{
	formTaskJSON: {&taskMaster, `JSON with a list "tasks"`},
	formBacklog:  {&backlog, "front matter with id and status"},
	formTaskText: {&taskMaster, "line # Task ID:"},
	formEpicTask: {&epic, "front matter with status and depends_on, parallel or conflicts_with"},
	formGSD:      {&gsd, "element <task>"},
}

// toolOf returns the tool with a dialect.
func toolOf(dialect string) *tool {
	for _, f := range formsOf[formNone+1:] {
		if f.dialect == dialect {
			return f.tool
		}
	}
	return nil
}

// records is one pass over the files of a plan.
type records struct {
	text     string
	rows     *plan.Rows
	notes    *plan.Remarks
	dialect  *dialect.Dialect
	files    []file
	boxes    []box
	override block.Override
	// parents is the id of the parent of each item, and waits are its dependencies.
	parents []string
	waits   [][]string
	// counts holds how many ids were derived with each prefix.
	counts map[string]int
	lines  []int32 // the offsets of all lines, found on demand
	// folded maps lower-case ids to items. It is nil if case is significant.
	folded map[string]int32
	// capitals means that ids are in capitals, but file names in lower case.
	capitals bool
	// set means that the configuration or a comment sets the dialect.
	set bool
	// refusal is the error for a plan of one file that cannot be read.
	refusal *plan.ParseError
}

// file is one file of a plan. In a plan of one file it has no name.
type file struct {
	plan.FileSpan
	begin int // the offset of its content, after comments that set the dialect
	form  form
	front front
	fault string // why it cannot be read, "" if it can
	taken bool   // it was read, or it was reported why not
}

// box is a checkbox, which is no task.
type box struct {
	file, at    int
	place       plan.Place
	mark, title string
	within      string // the section marker around it, such as AC
	reported    bool
	listed      bool // it repeats an item, whose own status counts
}

// Begins reports whether a text begins like a record file and not like a list of checkboxes.
func Begins(text string) bool {
	rest := text[bodyOf(text, 0, len(text)):]
	return strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, taskIDLabel)
}

// Read reads a plan. It returns nil for both results if the text is a list. An error for a plan of one file explains why
// it is no record; it may still be a list.
func Read(text string, hints plan.Hints) (*Result, error) {
	spans, folder := filesOf(text)
	if spans == nil {
		spans = []plan.FileSpan{{To: len(text)}}
	}
	x := &records{text: text, rows: plan.NewRows(text, 0), counts: map[string]int{}}
	if folder {
		x.rows.Files = spans
	}
	x.notes = plan.NewRemarks(text, x.rows.Files)
	for k, span := range spans {
		x.files = append(x.files, file{FileSpan: span, begin: bodyOf(text, span.From, span.To)})
		x.look(k)
	}
	d := dialect.Of(hints.Dialect)
	if d == nil {
		d = dialect.Of(x.override.Dialect)
	}
	switch x.dialect = d; {
	case d != nil && d.Records:
		x.set = true
	case !folder && d != nil:
		return nil, nil
	default:
		x.dialect = nil // a comment may name the dialect of a list
		if f := x.commonForm(); f != formNone {
			x.dialect = dialect.Of(formsOf[f].dialect)
		}
	}
	switch f := &x.files[0]; {
	case x.dialect != nil:
		return x.read(hints)
	case folder && len(x.files) == 1:
		return nil, x.none("none of the 1 file of the folder is a task")
	case folder:
		return nil, x.none(fmt.Sprintf("none of the %d files of the folder is a task", len(x.files)))
	case f.fault != "":
		return nil, x.none(f.fault)
	}
	return nil, nil
}

// filesOf returns the files in a text made by plan.JoinFiles. ok is false for any other text.
func filesOf(text string) (files []plan.FileSpan, ok bool) {
	split, ok := plan.SplitFiles(text)
	at := len(text)
	for _, f := range split {
		at -= len(f.Text)
	}
	for _, f := range split {
		files = append(files, plan.FileSpan{Name: f.Name, From: at, To: at + len(f.Text)})
		at += len(f.Text)
	}
	return files, ok
}

// bodyOf skips the lines before the content of a file: a byte order mark, blank lines, and comments that set the
// dialect.
func bodyOf(text string, from, to int) int {
	if strings.HasPrefix(text[from:to], lex.BOM) {
		from += len(lex.BOM)
	}
	for from < to {
		line, next := cutLine(text[:to], from)
		if line = lex.Trim(line); line != "" && !block.Overrides(line) {
			return from
		}
		from = next
	}
	return to
}

// commonForm returns the form of most files. JSON with tasks takes precedence.
func (x *records) commonForm() (best form) {
	var count [forms]int
	for k := range x.files {
		count[x.files[k].form]++
	}
	for f := formTaskJSON; f < forms; f++ {
		if count[f] > 0 && (best == formNone || best != formTaskJSON && count[f] > count[best]) {
			best = f
		}
	}
	return best
}

// look determines the form of a file, and finds its checkboxes.
func (x *records) look(k int) {
	f := &x.files[k]
	f.front.faultAt = f.From
	marked := x.scan(k)
	rest := x.text[f.begin:f.To]
	if reason, at := lex.Binary(x.text[f.From:f.To]); reason != "" {
		f.form, f.fault, f.front.faultAt = formOfName(f.Name), reason, f.From+at
		return
	}
	lex.Broken(x.text, f.From, f.To, x.notes)
	switch {
	case strings.HasPrefix(rest, "{") && (strings.Contains(rest, `"tasks"`) || strings.Contains(rest, `"status"`) || strings.HasSuffix(f.Name, ".json")):
		f.form = formTaskJSON
		return
	case strings.HasPrefix(rest, taskIDLabel):
		f.form = formTaskText
		return
	}
	front, ok := frontOf(x.text, f.begin, f.To)
	if f.front = front; front.fault == "" {
		f.front.faultAt = f.From
	}
	switch {
	case f.hasTask(x.text, len(x.boxes) > 0):
		f.form = formGSD
	case ok && front.fault != "":
		f.fault, f.form = front.fault, formOfName(f.Name)
		if marked && f.form == formNone {
			f.form = formBacklog
		}
	case front.has("id") && front.has("status") && (f.Name != "" || marked || front.has(
		"dependencies", "assignee", "labels", "created_date", "parent_task_id", "priority", "milestone", "ordinal")):
		f.form = formBacklog
	case front.has("status") && front.has("depends_on", "parallel", "conflicts_with") && !isEpic(f.Name):
		f.form = formEpicTask
	}
}

// baseName returns a file name without its folder.
func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// formOfName guesses the form of an unreadable file from its name.
func formOfName(name string) form {
	base := baseName(name)
	switch {
	case strings.HasSuffix(base, ".json"):
		return formTaskJSON
	case strings.HasPrefix(base, "task_") && strings.HasSuffix(base, ".txt"):
		return formTaskText
	case strings.HasSuffix(base, "-PLAN.md"):
		return formGSD
	case strings.HasSuffix(base, ".md") && strings.Trim(idOfName(base), "0123456789") == "":
		return formEpicTask
	case strings.HasSuffix(base, ".md") && strings.Contains(base, " - "):
		return formBacklog
	}
	return formNone
}

// scan records all checkboxes of a file, and the dialect that a comment sets. It reports whether the file has section
// markers such as AC:BEGIN.
func (x *records) scan(k int) (marked bool) {
	f := &x.files[k]
	s := block.FileScanner(x.text, f.From, f.To, x.notes)
	within := ""
	for s.Scan() {
		ln := &s.Line
		if ln.Blank() {
			continue
		}
		if ln.Place == plan.InComment {
			if name, begins, ok := criteria.SectionMark(ln.Content()); ok {
				if marked, within = true, ""; begins {
					within = name
				}
			}
		}
		m := block.MarkerAt(ln.Text, ln.Body)
		if m.Kind == block.NoMarker || m.Next >= len(ln.Text) || ln.Text[m.Next] != '[' {
			continue
		}
		if b, ok := block.BoxAt(ln.Text, m); ok {
			x.boxes = append(x.boxes, box{
				file: k, at: ln.Start + b.Open, place: ln.Place, mark: b.Mark(ln.Text), title: b.Rest(ln.Text), within: within,
			})
		}
	}
	if s.Override.Line > 0 && x.override.Line == 0 {
		x.override = s.Override
	}
	return marked
}

// read reads all items and resolves their relations.
func (x *records) read(hints plan.Hints) (*Result, error) {
	tool := toolOf(x.dialect.Name)
	tool.read(x)
	x.leftOver()
	x.refuseBoxes()
	if len(x.rows.Entries) == 0 {
		if x.refusal != nil {
			return nil, x.refusal
		}
		return nil, x.none(x.dialect.Missing)
	}
	x.relate()
	out := &Result{Dialect: tool.dialect, Evidence: x.evidence(tool, hints), Rows: x.rows, Notes: x.notes, Checkboxes: len(x.boxes)}
	out.Totals = graph.Settle(x.rows, x.notes, graph.Input{}).Totals
	out.Describe = func(i int32, it *plan.Item) { tool.describeItem(out.Rows, i, it) }
	return out, nil
}

// describeItem fills in the description of a record. An unreadable file has only its name.
func (t *tool) describeItem(rows *plan.Rows, i int32, it *plan.Item) {
	e := &rows.Entries[i]
	if reason, _ := lex.Binary(rows.Text[e.From:e.To]); !e.DerivedID || reason == "" {
		t.describe(rows.Text, e, it)
	}
	if it.Title == "" {
		it.Title = titleOfName(it.Source)
	}
	if it.Title == "" {
		it.Title = it.ID
	}
}

// none returns the error for a plan without items.
func (x *records) none(reason string) *plan.ParseError {
	x.refuseBoxes()
	return &plan.ParseError{
		Reason: plan.ReasonNoItems, Message: "no task was found: " + reason, Checkboxes: len(x.boxes), Diagnostics: x.notes.Diagnostics(),
	}
}

// evidence returns the evidence for the dialect, and that for others.
func (x *records) evidence(tool *tool, hints plan.Hints) (all []plan.Evidence) {
	if !x.set {
		if x.override.Line > 0 {
			x.refuseDialect()
		}
		all = append(all, plan.Evidence{Line: int(x.rows.Entries[0].Line), Dialect: tool.dialect, Signal: tool.item})
	} else if hints.Dialect == tool.dialect {
		setting := plan.Evidence{Dialect: tool.dialect, Signal: "set by configuration"}
		if hints.Pattern != "" {
			setting.Signal += " for " + hints.Pattern
		}
		all = append(all, setting)
	}
	if x.set && x.override.Line > 0 {
		all = append(all, plan.Evidence{Line: x.override.Line, Dialect: x.override.Dialect, Signal: "comment that sets the dialect"})
	}
	var seen [forms]bool
	for k := range x.files {
		f := &x.files[k]
		if f.form == formNone || seen[f.form] {
			continue
		}
		seen[f.form] = true
		of := &formsOf[f.form]
		signal := of.signal
		if f.Name != "" {
			signal += " in " + lex.Clip(f.Name)
		}
		all = append(all, plan.Evidence{Line: 1, Dialect: of.dialect, Signal: signal})
	}
	return all
}

// refuseDialect reports a comment whose dialect does not fit the files.
func (x *records) refuseDialect() {
	message := dialect.Unknown(x.override.Dialect)
	if dialect.Of(x.override.Dialect) != nil {
		message = fmt.Sprintf("the dialect %s is for lists and not for files, so it is ignored here", x.override.Dialect)
	}
	x.notes.Add(x.override.At, plan.SeverityError, "unknown_dialect", message)
}

// each calls fn for each file of a form. A file that cannot be read becomes an open item. If a comment sets the dialect
// of a plan with only one file, that file counts as one of the form.
func (x *records) each(want form, fn func(k int)) {
	set := x.set && len(x.files) == 1 && want != formTaskJSON
	for k := range x.files {
		switch f := &x.files[k]; {
		case f.taken || f.form != want && !(set && f.form == formNone):
		case f.fault != "":
			x.unread(k)
		default:
			f.taken = true
			fn(k)
		}
	}
}

// unread turns an unreadable file into an open item, so that its work does not count as done.
func (x *records) unread(k int) {
	f := &x.files[k]
	f.taken = true
	if f.form == formTaskJSON {
		x.notes.Add(f.front.faultAt, plan.SeverityError, "file_unreadable", f.fault+": its tasks are lost")
		return
	}
	x.notes.Add(f.front.faultAt, plan.SeverityError, "file_unreadable", f.fault+": its task counts as open")
	x.add(task{id: x.idOfFile(k), derived: true, named: f.From, from: f.From, to: f.To, status: plan.Pending})
}

// leftOver reports each file without a task.
func (x *records) leftOver() {
	for k := range x.files {
		switch f := &x.files[k]; {
		case f.taken || f.Name == "":
		case f.fault != "":
			x.notes.Add(f.front.faultAt, plan.SeverityError, "file_unreadable", f.fault)
		default:
			x.notes.Add(f.From, plan.SeverityInfo, "file_without_item", fmt.Sprintf("this file has no task in the dialect %s", x.dialect.Name))
		}
	}
}

// refuseBoxes reports why each checkbox is not a task.
func (x *records) refuseBoxes() {
	for i := range x.boxes {
		switch b := &x.boxes[i]; {
		case b.reported:
		case b.place == plan.InFence:
			x.refuse(b, plan.SeverityInfo, "checkbox_in_fence", fmt.Sprintf("a checkbox in a code fence is not a task: %q", lex.Clip(b.title)))
		case b.place == plan.InComment:
			x.refuse(b, plan.SeverityInfo, "checkbox_in_comment", fmt.Sprintf("a checkbox in a comment is not a task: %q", lex.Clip(b.title)))
		case b.within != "":
			x.refuse(b, plan.SeverityInfo, "not_a_task_section",
				fmt.Sprintf("%q is between the marks %s, where boxes are not tasks", lex.Clip(b.title), b.within))
		default:
			x.refuse(b, plan.SeverityInfo, "not_a_task_section", fmt.Sprintf("%q is in the text of a file, where boxes are not tasks", lex.Clip(b.title)))
		}
	}
}

// refuse reports why a checkbox is not a task.
func (x *records) refuse(b *box, severity plan.Severity, code, message string) {
	b.reported = true
	d := x.notes.Add(b.at, severity, code, message)
	d.NotATask = true
	d.Open = b.place == plan.InText && !b.listed && !lex.Withdrawn(b.title) && b.mark != "x" && b.mark != "X"
}

// idOfFile derives an id from a file name, in the case of the other ids.
func (x *records) idOfFile(k int) string {
	id := idOfName(x.files[k].Name)
	if x.capitals {
		return strings.ToUpper(id)
	}
	return id
}

// titleOfName returns the part of a file name after " - " as a title.
func titleOfName(name string) string {
	_, title, ok := strings.Cut(baseName(name), " - ")
	if !ok {
		return idOfName(name)
	}
	return strings.ReplaceAll(idOfName(title), "-", " ")
}

// idOfName returns the part of a file name before " - ", without its extension, as an id.
func idOfName(name string) string {
	name = baseName(name)
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	id, _, _ := strings.Cut(name, " - ")
	return id
}

// task is a task as its file contains it.
type task struct {
	id      string // as written
	derived bool   // the file has no id
	// prefix begins the derived id of a task without one.
	prefix   string
	from, to int
	named    int // offset of its id or title
	status   plan.Status
	mark     plan.Span // of the status word; zero if it cannot be written
	// below is 1 + the index of the item that contains this one. parent is the id of a parent that the file names.
	below  int32
	parent string
	waits  []string
}

// add creates the item of a task.
func (x *records) add(t task) int32 {
	if t.id == "" || len(t.id) > lex.LongestID || !utf8.ValidString(t.id) || strings.ContainsFunc(t.id, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		if t.prefix == "" {
			t.prefix = "item"
		}
		x.counts[t.prefix]++
		t.id, t.derived = t.prefix+"/"+strconv.Itoa(x.counts[t.prefix]), true
	}
	if t.derived {
		x.notes.Add(t.named, plan.SeverityInfo, "derived_id", "this task has no id of its own: its id is "+t.id)
	}
	i, first := x.rows.Add(plan.Entry{
		ID: t.id, From: int32(t.from), To: int32(t.to), Mark: int32(t.mark.Start), MarkEnd: int32(t.mark.End), Line: int32(x.line(t.named)),
		Parent: t.below - 1, Status: t.status, DerivedID: t.derived, Worded: t.mark.End > 0,
	})
	x.parents, x.waits = append(x.parents, t.parent), append(x.waits, t.waits)
	if first != i {
		x.notes.Add(t.named, plan.SeverityError, "duplicate_id",
			fmt.Sprintf("id %s is in %s and again in %s: the id refers to the first one", t.id, x.rows.Where(first), x.rows.Where(i)))
	}
	return i
}

// status parses the status word at an offset. An unknown word means open.
func (x *records) status(at int, word string) plan.Status {
	status, ok := lex.WordStatus(word)
	switch {
	case ok:
		return status
	case word == "":
		x.notes.Add(at, plan.SeverityWarning, "unknown_mark", "this task has no status, so it is open")
	default:
		x.notes.Add(at, plan.SeverityWarning, "unknown_mark",
			fmt.Sprintf("the status %q has no meaning here, so the item is open: use %s", lex.Clip(word), x.dialect.Usable))
	}
	return plan.Pending
}

// find returns the item with an id.
func (x *records) find(id string) int32 {
	if i := x.rows.Find(id); i >= 0 || x.folded == nil {
		return i
	}
	if i, ok := x.folded[strings.ToLower(id)]; ok {
		return i
	}
	return -1
}

// fold makes ids equal that differ only in case.
func (x *records) fold() {
	x.folded = make(map[string]int32, len(x.rows.Entries))
	for i := range x.rows.Entries {
		id := strings.ToLower(x.rows.Entries[i].ID)
		if _, taken := x.folded[id]; !taken {
			x.folded[id] = int32(i)
		}
	}
}

// relate resolves the parent and the dependencies of each item.
func (x *records) relate() {
	for i := range x.rows.Entries {
		e := &x.rows.Entries[i]
		if id := x.parents[i]; id != "" {
			if e.Parent = x.find(id); e.Parent < 0 {
				at := e.From
				if e.MarkEnd > 0 {
					at = e.Mark
				}
				x.notes.Add(int(at), plan.SeverityWarning, "parent_unresolved",
					fmt.Sprintf("%s names %q as its parent, which is not an id in this plan", e.ID, lex.Clip(id)))
			}
		}
		for k, id := range x.waits[i] {
			if to := x.find(id); to >= 0 {
				x.waits[i][k] = x.rows.Entries[to].ID
			}
		}
		x.rows.AddWait(int32(i), x.waits[i])
	}
}

// line returns the number of the line of an offset in its file.
func (x *records) line(at int) int {
	if x.lines == nil {
		for from := 0; from < len(x.text); {
			x.lines = append(x.lines, int32(from))
			_, from = cutLine(x.text, from)
		}
	}
	number := func(at int) int {
		return sort.Search(len(x.lines), func(i int) bool { return int(x.lines[i]) > at })
	}
	from := 0
	if x.rows.Files != nil {
		from = x.rows.Files[x.rows.FileAt(at)].From
	}
	return number(at) - number(from) + 1
}
