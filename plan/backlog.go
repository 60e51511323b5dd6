package plan

import (
	"fmt"
	"strings"
)

// This file reads the files of Backlog.md: one file for each task, with front matter. The checkboxes in the text are
// criteria.

var backlogGrammar = grammar{
	dialects: []string{backlog},
	records:  readBacklog,
	describe: describeBacklog,
	usable:   "To Do, In Progress or Done",
	missing:  `no front matter with "id" and "status"`,
}

// each calls fn for each file of a shape. A file that cannot be read becomes an open item. If a comment sets the
// dialect of a plan with only one file, that file counts as one of the shape.
func (x *records) each(want shape, fn func(k int)) {
	set := x.set && len(x.files) == 1
	for k := range x.files {
		switch f := &x.files[k]; {
		case f.taken || f.form != want && !(set && f.form == formNone && want != formTaskJSON):
		case f.fault != "":
			x.unreadable(k)
		default:
			f.taken = true
			fn(k)
		}
	}
}

func readBacklog(x *records) {
	for k := range x.files {
		id := x.files[k].front.word("id")
		x.capitals = x.capitals || id == strings.ToUpper(id) && id != strings.ToLower(id)
	}
	x.each(formBacklog, x.readBacklogFile)
	x.fold()
	for i := range x.r.entries {
		if x.parents[i] == "" {
			x.parents[i] = x.dotted(x.r.entries[i].id)
		}
	}
}

func (x *records) readBacklogFile(k int) {
	f := &x.files[k]
	if f.front.fields == nil {
		return
	}
	name := x.idOfFile(k)
	rec := record{
		id: f.front.word("id"), from: f.from, to: f.to, named: f.front.placeOf(f.front.value("id")),
		parent: f.front.word("parent_task_id"), waits: f.front.words("dependencies"),
	}
	switch {
	case rec.id == "":
		rec.id, rec.derived = name, name != ""
	case f.name != "" && !strings.EqualFold(name, rec.id):
		x.note(k, rec.named, SeverityWarning, "file_name_conflict",
			fmt.Sprintf("the file name says %q and the id says %q: the id counts", clip(name), clip(rec.id)))
	}
	x.frontStatus(k, &rec)
	x.add(k, rec)
	x.checkFront(k)
}

// dotted returns the parent id of an id with dots, or "" without one.
func (x *records) dotted(id string) string {
	if stem := ancestor(id); stem != "" && x.resolveID(stem) >= 0 {
		return stem
	}
	return ""
}

// placeOf returns the offset of a value, or the offset of the front matter if the value is missing.
func (f *front) placeOf(n *yamlNode) int {
	if n == nil {
		return f.from
	}
	return f.offset(n)
}

// frontStatus reads the status in front matter.
func (x *records) frontStatus(k int, rec *record) {
	f := &x.files[k].front
	status := f.value("status")
	rec.status = x.readStatus(k, f.placeOf(status), wordOf(status))
	if wordOf(status) != "" {
		rec.mark, _ = f.span(status)
	}
}

// checkFront reports a key that occurs twice in front matter.
func (x *records) checkFront(k int) {
	if f := &x.files[k].front; f.twice != nil {
		x.note(k, f.offset(f.twice), SeverityWarning, "duplicate_name",
			fmt.Sprintf("%q occurs twice in this front matter: the first one counts", clip(f.twice.Value)))
	}
}

// describeBacklog fills in the description of an item from its file.
func describeBacklog(r *Reading, e *entry, it *Item) {
	f, _ := readFront(r.text, int(e.from), int(e.to))
	it.Title = f.word("title")
	for _, d := range [...]struct{ key, label string }{
		{"priority", "Priority"}, {"labels", "Labels"}, {"assignee", "Assignee"}, {"milestone", "Milestone"},
	} {
		if words := f.words(d.key); words != nil {
			it.Details = append(it.Details, d.label+": "+strings.Join(words, ", "))
		}
	}
	describeText(r.text[f.body:e.to], it)
}

// criterionName says what a box below a heading is.
func criterionName(heading string) string {
	switch part := strings.ToLower(heading); {
	case strings.HasPrefix(part, "definition of done"):
		return "Definition of done"
	case heading == "" || strings.HasPrefix(part, "acceptance"):
		return "Criterion"
	}
	return clip(heading)
}
