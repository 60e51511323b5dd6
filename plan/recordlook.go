package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"waybill/plan/criteria"
)

// This file determines the kind of each file in a plan of records.

// shape is the form in which a file describes work.
type shape uint8

const (
	formNone shape = iota
	formTaskJSON
	formBacklog
	formTaskText
	formEpicTask
	formGSD
	forms
)

// recordForms are the dialect of each form, and its evidence.
var recordForms = [forms]struct{ dialect, signal string }{
	formTaskJSON: {taskMaster, `JSON with a list "tasks"`},
	formBacklog:  {backlog, "front matter with id and status"},
	formTaskText: {taskMaster, "line # Task ID:"},
	formEpicTask: {epicFiles, "front matter with status and depends_on, parallel or conflicts_with"},
	formGSD:      {gsd, "element <task>"},
}

// recordDialect returns the dialect of a form, or "".
func recordDialect(f shape) string { return recordForms[f].dialect }

// beginsRecord reports whether a text begins like a record file and not like a list of checkboxes. All other texts
// skip the further checks.
func beginsRecord(text string) bool {
	rest := text[bodyOf(text):]
	return strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, taskIDLabel)
}

// foundBox is a checkbox in a record file, in which no checkbox is a task.
type foundBox struct {
	file, offset int
	place        place
	mark, title  string
	within       string // the section marker around it, such as AC
	// reported is set after a diagnostic for the checkbox.
	reported bool
	// listed means that the checkbox repeats an item. The item's own status counts.
	listed bool
}

// look determines the form of a file, and finds its checkboxes.
func (x *records) look(k int) {
	f := &x.files[k]
	text := x.src[f.from:f.to]
	f.front.faultAt = f.from
	marked := x.scanBoxes(k)
	if fault := checkText(text); fault != nil {
		f.form, f.fault, f.front.faultAt = formOfName(f.name), fault.Message, f.from+fault.Offset
		return
	}
	begin := f.from + bodyOf(text)
	rest := x.src[begin:f.to]
	switch {
	case strings.HasPrefix(rest, "{") && (strings.Contains(rest, `"tasks"`) || strings.HasSuffix(f.name, ".json")):
		f.form = formTaskJSON
	case strings.HasPrefix(rest, taskIDLabel):
		f.form = formTaskText
	default:
		x.lookAtFront(f, marked)
	}
}

// lookAtFront determines the form from the front matter.
func (x *records) lookAtFront(f *recordFile, marked bool) {
	front, ok := readFront(x.src, f.from, f.to)
	if f.front = front; front.fault == "" {
		f.front.faultAt = f.from
	}
	switch {
	case x.hasTaskElement(f):
		f.form = formGSD
	case ok && front.fault != "":
		f.fault, f.form = front.fault, formOfName(f.name)
		if marked && f.form == formNone {
			f.form = formBacklog
		}
	case !ok:
	case front.has("id") && front.has("status") && (f.name != "" || marked || front.has(
		"dependencies", "assignee", "labels", "created_date", "parent_task_id", "priority", "milestone", "ordinal")):
		f.form = formBacklog
	case front.has("status") && front.has("depends_on", "parallel", "conflicts_with") && !isEpic(f.name):
		f.form = formEpicTask
	}
}

// formOfName guesses the form of an unreadable file from its name.
func formOfName(name string) shape {
	base := name[strings.LastIndexByte(name, '/')+1:]
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

// scanBoxes records all checkboxes of a file, and the dialect that a comment sets. It reports whether the file has
// section markers such as AC:BEGIN.
func (x *records) scanBoxes(k int) (marked bool) {
	f := &x.files[k]
	s := newScanner(x.src[f.from:f.to])
	within := ""
	for s.scan() {
		ln := &s.line
		if ln.blank() {
			continue
		}
		if ln.place == placeComment {
			if name, begins, ok := criteria.SectionMark(ln.content()); ok {
				if marked, within = true, ""; begins {
					within = name
				}
			}
		}
		m := markerAt(ln.text, ln.body)
		if m.kind == markerNone || m.next >= len(ln.text) || ln.text[m.next] != '[' {
			continue
		}
		if b, ok := boxAt(ln.text, m); ok {
			x.boxes = append(x.boxes, foundBox{
				file: k, offset: f.from + ln.start + b.open, place: ln.place, mark: b.mark(ln.text), title: b.rest(ln.text), within: within,
			})
		}
	}
	x.r.Checkboxes = len(x.boxes)
	for _, d := range s.unclosed {
		d.Source = f.name
		x.found = append(x.found, remark{k, d})
	}
	if s.override.line > 0 && x.override.line == 0 {
		x.override, x.overrideFile = s.override, k
	}
	return marked
}

// refuseBoxes reports why each checkbox is not a task.
func (x *records) refuseBoxes() {
	for i := range x.boxes {
		b := &x.boxes[i]
		switch {
		case b.reported:
		case b.place != placeText:
			x.refuseBox(b, SeverityInfo, b.place.code(), fmt.Sprintf("a checkbox in %s is not a task: %q", b.place, clip(b.title)))
		case b.within != "":
			x.refuseBox(b, SeverityInfo, "not_a_task_section",
				fmt.Sprintf("%q is between the marks %s, where boxes are not tasks", clip(b.title), b.within))
		default:
			x.refuseBox(b, SeverityInfo, "not_a_task_section",
				fmt.Sprintf("%q is in the text of a file, where boxes are not tasks", clip(b.title)))
		}
	}
}

// refuseBox reports a checkbox and marks it as reported.
func (x *records) refuseBox(b *foundBox, severity Severity, code, message string) {
	b.reported = true
	x.note(b.file, b.offset, severity, code, message)
	d := &x.found[len(x.found)-1]
	d.NotATask = true
	d.Open = b.place == placeText && !b.listed && !withdrawn(b.title) && usualMark(b.mark) != Completed
}

// usableID reports whether a text can be an id.
func usableID(id string) bool {
	return id != "" && len(id) <= longestID && utf8.ValidString(id) && strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}
