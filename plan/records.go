package plan

import (
	"fmt"
	"slices"
	"strings"
)

// This file reads plans that are not lists of checkboxes: one file per task, or tasks in JSON, as one file or as a
// folder. Their items are called records. Lists and records share the code that resolves relations.

// records is one pass over the files of such a plan.
type records struct {
	numbered
	places *positions
	files  []recordFile
	boxes  []foundBox
	found  []remark
	// parents is the parent id of each item, and waiting its dependencies.
	parents []string
	waiting [][]string
	// folded maps lower-case ids to items. It is nil if case is significant.
	folded map[string]int32
	// capitals means that ids are in capitals, but file names in lower case.
	capitals bool
	// set means that the configuration or a comment sets the dialect.
	set bool
	// fault is the error for a plan of one file that cannot be read.
	fault *ParseError
	// overrideFile is the index of the file that sets the dialect.
	overrideFile int
}

// recordFile is a file before its items are read.
type recordFile struct {
	file
	form  shape
	front front
	fault string // why it cannot be read, "" if it can
	taken bool   // it was read, or it was reported why not
}

// remark is a diagnostic of a file.
type remark struct {
	file int
	Diagnostic
}

// newRecords determines the kind of each file.
func newRecords(text string, files []file, p Hints) *records {
	x := &records{places: newPositions(text, files), files: make([]recordFile, len(files))}
	x.numbered = numbered{scanner: newScanner(text), r: &Reading{index: newIndex(len(files)), active: -1}, owner: -1, shadow: -1}
	x.numbered.remarks, x.evidence.hints = x.noteAt, p
	for k := range files {
		x.files[k].file = files[k]
		x.look(k)
	}
	return x
}

// readRecord reads a plan of one file that begins like a record. It returns nil for both results if the file is not
// one.
func readRecord(text string, p Hints) (*Reading, error) {
	x := newRecords(text, []file{{to: len(text)}}, p)
	x.g = x.configured()
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
func readFolder(text string, p Hints) (*Reading, error) {
	files, ok := filesOf(text)
	if !ok {
		return nil, checkText(text) // binary data that begins by chance like joined files
	}
	x := newRecords(text, files, p)
	x.r.files = files
	if x.g = x.chosen(); x.g == nil {
		x.refuseBoxes()
		missing := fmt.Sprintf("none of the %d files of the folder is a task", len(files))
		if len(files) == 1 {
			missing = "none of the 1 file of the folder is a task"
		}
		return nil, x.none(missing)
	}
	return x.read()
}

// chosen returns the grammar that a comment sets, or else that of most files. A file with tasks in JSON takes
// precedence over all others.
func (x *records) chosen() *grammar {
	if g := x.configured(); g != nil && g.records != nil {
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

// read reads all items and resolves their relations.
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

// none returns the error for a plan without items.
func (x *records) none(reason string) *ParseError {
	return &ParseError{
		Reason: ReasonNoItems, Message: "no task was found: " + reason, Checkboxes: x.r.Checkboxes, Diagnostics: x.diagnostics(),
	}
}

// diagnostics returns all diagnostics in the order of files and lines.
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

// noteAt reports a diagnostic at an offset.
func (x *records) noteAt(offset int, severity Severity, code, message string) {
	x.note(fileAt(x.places.files, offset), offset, severity, code, message)
}

// note reports a diagnostic in a file.
func (x *records) note(k, offset int, severity Severity, code, message string) {
	line, column := x.places.of(k, offset)
	x.found = append(x.found, remark{k, Diagnostic{
		Source: x.files[k].name, Line: line, Column: column, Severity: severity, Code: code, Message: message,
	}})
}

// nameDialect sets the dialect and its evidence, and reports evidence for others.
func (x *records) nameDialect() {
	x.r.Dialect = x.g.dialects[0]
	first := Evidence{Line: int(x.r.entries[0].line), Dialect: x.r.Dialect, Signal: recordForm(x.r.Dialect)}
	comment := Evidence{Line: x.override.line, Dialect: x.override.dialect, Signal: "comment that sets the dialect"}
	placed := &x.evidence.hints
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

// refuseDialect reports a comment whose dialect does not fit the files.
func (x *records) refuseDialect() {
	d := unknownDialect(x.override)
	if grammarOf(x.override.dialect) != nil {
		d.Message = fmt.Sprintf("the dialect %s is for lists and not for files, so it is ignored here", x.override.dialect)
	}
	d.Source = x.files[x.overrideFile].name
	x.found = append(x.found, remark{x.overrideFile, d})
}

// leftOver reports each file without a task.
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

// unreadable turns an unreadable file into an open item, so that its work does not count as done.
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

// idOfFile derives an id from a file name, in the case of the other ids.
func (x *records) idOfFile(k int) string {
	id := idOfName(x.files[k].name)
	if x.capitals {
		return strings.ToUpper(id)
	}
	return id
}

// titleOfName returns the part of a file name after " - " as a title.
func titleOfName(name string) string {
	_, title, ok := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], " - ")
	if !ok {
		return idOfName(name)
	}
	return strings.ReplaceAll(idOfName(title), "-", " ")
}

// idOfName returns the part of a file name before " - ", without its extension, as an id.
func idOfName(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot]
	}
	id, _, _ := strings.Cut(name, " - ")
	return id
}

// describeRecord fills in the description of a record. An unreadable file has only its name.
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
