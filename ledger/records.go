package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// This file reads plans that are no lists of boxes: a file for each task, or
// tasks in JSON, as one file or as a folder of files. Their items are records.
// What they are to each other is settled by the same code as for lists.

// records is one pass over the files of such a plan.
type records struct {
	numbered
	places *positions
	files  []recordFile
	boxes  []foundBox
	found  []remark
	// parents holds what each item names as its parent, and waiting what it waits for.
	parents []string
	waiting [][]string
	// folded finds an item by its id in lower case; nil where case counts.
	folded map[string]int32
	// capitals says that the ids are written in capitals, and file names in small letters.
	capitals bool
	// set says that the configuration or a comment has chosen the dialect.
	set bool
	// fault is what makes a plan of one file unreadable.
	fault *ParseError
	// overrideFile is the one that sets the dialect.
	overrideFile int
}

// recordFile is what a file looks like before it is read.
type recordFile struct {
	file
	form  shape
	front front
	fault string // why it cannot be read at all, "" if it can
	taken bool   // it has been read, or it is known why not
}

// remark is a diagnostic of a file.
type remark struct {
	file int
	Diagnostic
}

// newRecords looks at what each file is.
func newRecords(text string, files []file, p Placing) *records {
	x := &records{places: newPositions(text, files), files: make([]recordFile, len(files))}
	x.numbered = numbered{scanner: newScanner(text), r: &Reading{index: newIndex(len(files)), active: -1}, owner: -1, shadow: -1}
	x.numbered.remarks, x.seen.placing = x.noteAt, p
	for k := range files {
		x.files[k].file = files[k]
		x.look(k)
	}
	return x
}

// readRecord reads a plan of one file that begins as a record. There is neither
// a reading nor an error if it is none after all.
func readRecord(text string, p Placing) (*Reading, error) {
	x := newRecords(text, []file{{to: len(text)}}, p)
	x.g = x.dictated()
	if x.set = x.g != nil; !x.set {
		x.g = grammarOf(recordDialect(x.files[0].form))
	}
	switch {
	case x.g == nil && x.files[0].fault != "":
		x.refuseBoxes()
		return nil, x.none(x.files[0].fault)
	case x.g == nil || x.g.records == nil:
		return nil, nil
	}
	return x.read()
}

// readFolder reads the files of a folder.
func readFolder(text string, p Placing) (*Reading, error) {
	files, ok := filesOf(text)
	if !ok {
		return nil, checkText(text) // it is binary, and begins by chance as joined files do
	}
	x := newRecords(text, files, p)
	x.r.files = files
	if x.g = x.chosen(); x.g == nil {
		x.refuseBoxes()
		return nil, x.none("none of the " + times(len(files), "file of the folder is a task", "files of the folder is a task"))
	}
	return x.read()
}

// chosen returns the grammar that a comment sets, or else the one that most
// files have. Tasks in JSON are one file, which counts more than all others.
func (x *records) chosen() *grammar {
	if g := x.dictated(); g != nil && g.records != nil {
		x.set = true
		return g
	}
	var count [forms]int
	for k := range x.files {
		count[x.files[k].form]++
	}
	best := formNone
	for f := formTaskJSON; f < forms; f++ {
		if count[f] > 0 && (best == formNone || best != formTaskJSON && count[f] > count[best]) {
			best = f
		}
	}
	return grammarOf(recordDialect(best))
}

// read reads all items and settles what they are to each other.
func (x *records) read() (*Reading, error) {
	x.g.records(x)
	x.leftOver()
	x.refuseBoxes()
	if x.r.Len() == 0 {
		if x.fault != nil {
			return nil, x.fault
		}
		return nil, x.none(x.g.missing)
	}
	x.relate()
	x.plant()
	x.checkDependencies()
	x.nameDialect()
	x.r.Diagnostics = x.diagnostics()
	return x.sealed(), nil
}

// none says that there is no item.
func (x *records) none(reason string) *ParseError {
	e := &ParseError{
		Reason: ReasonNoItems, Checkboxes: x.r.Checkboxes, Diagnostics: x.diagnostics(),
		Message: "no task was found: " + reason,
	}
	for _, g := range grammars {
		if g.records != nil && (!x.set || g == x.g) {
			e.Tried = append(e.Tried, Attempt{g.dialects[0], g.missing})
		}
	}
	return e
}

// diagnostics gives what was found, in the order of the files and their lines.
func (x *records) diagnostics() []Diagnostic {
	slices.SortStableFunc(x.found, func(a, b remark) int {
		if a.file != b.file {
			return a.file - b.file
		}
		return a.Line - b.Line
	})
	all := make([]Diagnostic, len(x.found))
	for i := range x.found {
		all[i] = x.found[i].Diagnostic
	}
	return all
}

// noteAt reports something about the byte at the offset.
func (x *records) noteAt(offset int, severity Severity, code, message string) {
	x.note(fileAt(x.places.files, offset), offset, severity, code, message)
}

// note reports something about a file.
func (x *records) note(k, offset int, severity Severity, code, message string) {
	line, column := x.places.of(k, offset)
	x.found = append(x.found, remark{k, Diagnostic{
		Source: x.files[k].name, Line: line, Column: column, Severity: severity, Code: code, Message: message,
	}})
}

// nameDialect says which dialect it is, why, and what speaks for others.
func (x *records) nameDialect() {
	x.r.Dialect = x.g.dialects[0]
	first := Evidence{Line: int(x.r.entries[0].line), Dialect: x.r.Dialect, Signal: recordForm(x.r.Dialect)}
	comment := Evidence{Line: x.override.line, Dialect: x.override.dialect, Signal: "comment that sets the dialect"}
	placed := &x.seen.placing
	switch {
	case x.set && grammarOf(placed.Dialect) == x.g:
		first = Evidence{Dialect: placed.Dialect, Signal: placed.signal()}
		if comment.Line > 0 {
			first, x.r.Evidence = comment, append(x.r.Evidence, first)
		}
	case x.set:
		first = comment
	case comment.Line > 0:
		x.refuseDialect()
	}
	x.r.Evidence = append(x.r.Evidence, first)
	var seen [forms]bool
	for k := range x.files {
		f := &x.files[k]
		if f.form == formNone || seen[f.form] {
			continue
		}
		seen[f.form] = true
		signal, line := recordForms[f.form].signal, 1
		if f.name != "" {
			signal += " in " + clip(f.name)
		}
		x.r.Evidence = append(x.r.Evidence, Evidence{Line: line, Dialect: recordForms[f.form].dialect, Signal: signal})
	}
}

// refuseDialect reports a comment that sets a dialect which cannot be meant.
func (x *records) refuseDialect() {
	d := unknownDialect(x.override)
	if grammarOf(x.override.dialect) != nil {
		d.Message = fmt.Sprintf("the dialect %s is one of lists and none of files, so it does not count here", x.override.dialect)
	}
	d.Source = x.files[x.overrideFile].name
	x.found = append(x.found, remark{x.overrideFile, d})
}

// leftOver says of each file that has not been read that it has no task.
func (x *records) leftOver() {
	for k := range x.files {
		switch f := &x.files[k]; {
		case f.taken || f.name == "":
		case f.fault != "":
			x.note(k, f.front.faultAt, SeverityError, "file_unreadable", f.fault)
		default:
			x.note(k, f.from, SeverityInfo, "file_without_item",
				fmt.Sprintf("this file has no task in the dialect %s", x.g.dialects[0]))
		}
	}
}

// unreadable makes an open item of a file that cannot be read: what is lost
// must not look as if there were nothing to do.
func (x *records) unreadable(k int) {
	f := &x.files[k]
	f.taken = true
	if f.form == formTaskJSON {
		x.note(k, f.front.faultAt, SeverityError, "file_unreadable", f.fault+": its tasks are lost")
		return
	}
	x.note(k, f.front.faultAt, SeverityError, "file_unreadable", f.fault+": its task counts as open")
	x.add(k, record{id: x.idOfFile(k), derived: true, named: f.from, from: f.from, to: f.to, status: Pending})
}

// idOfFile makes an id of the name of a file, in the case of letters that the others have.
func (x *records) idOfFile(k int) string {
	id := idOfName(x.files[k].name)
	if x.capitals {
		return strings.ToUpper(id)
	}
	return id
}

// titleOfName makes a title of the name of a file: what stands behind " - ".
func titleOfName(name string) string {
	_, title, ok := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], " - ")
	if !ok {
		return idOfName(name)
	}
	return strings.ReplaceAll(idOfName(title), "-", " ")
}

// idOfName makes an id of the name of a file: what stands before " - ", and before the last dot.
func idOfName(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	id, _, _ := strings.Cut(name, " - ")
	return id
}

// describeRecord reads a record once more. Of a file that is no text there is only the name.
func describeRecord(r *Reading, e *entry, it *Item) {
	if !e.derivedID || checkText(r.lines(e)) == nil {
		r.grammar.describe(r, e, it)
	}
	if it.Title == "" {
		it.Title = titleOfName(it.Source)
	}
	if it.Title == "" {
		it.Title = it.ID
	}
}
