package record

import (
	"fmt"
	"strings"

	"waybill/plan"
	"waybill/plan/describe"
	"waybill/plan/lex"
)

// This file reads plans in which each file is a task, with front matter: those of Backlog.md, and the folders of CCPM
// epics. The checkboxes in their text are criteria.

// fileReader reads plans in which each file is a task.
type fileReader struct{ *records }

var backlog = tool{dialect: "backlog", item: "file that is a task", read: readBacklog, describe: describeBacklog}

func readBacklog(records *records) {
	x := fileReader{records}
	for k := range x.files {
		id := x.files[k].front.word("id")
		x.capitals = x.capitals || id == strings.ToUpper(id) && id != strings.ToLower(id)
	}
	x.each(formBacklog, x.readBacklogFile)
	x.fold()
	for i := range x.rows.Entries {
		if above := lex.Ancestor(x.rows.Entries[i].ID); x.parents[i] == "" && above != "" && x.find(above) >= 0 {
			x.parents[i] = above
		}
	}
}

func (x *fileReader) readBacklogFile(k int) {
	f := &x.files[k]
	if f.front.fields == nil {
		return
	}
	name := x.idOfFile(k)
	t := task{
		id: f.front.word("id"), from: f.From, to: f.To, named: f.front.placeOf("id"),
		parent: f.front.word("parent_task_id"), waits: f.front.words("dependencies"),
	}
	switch {
	case t.id == "":
		t.id, t.derived = name, name != ""
	case f.Name != "" && !strings.EqualFold(name, t.id):
		x.notes.Add(t.named, plan.SeverityWarning, "file_name_conflict",
			fmt.Sprintf("the file name says %q and the id says %q: the id counts", lex.Clip(name), lex.Clip(t.id)))
	}
	x.addFile(k, t)
}

// addFile creates the item of a file with a status in its front matter.
func (x *fileReader) addFile(k int, t task) {
	f := &x.files[k].front
	t.status = x.status(f.placeOf("status"), f.word("status"))
	if status := f.value("status"); status != nil {
		t.mark = status.mark
	}
	x.add(t)
	x.checkFront(k)
}

// checkFront reports a key that occurs twice in front matter.
func (x *records) checkFront(k int) {
	if twice := x.files[k].front.twice(); twice != nil {
		x.notes.Add(twice.keyAt, plan.SeverityWarning, "duplicate_name",
			fmt.Sprintf("%q occurs twice in this front matter: the first one counts", lex.Clip(twice.key)))
	}
}

// isEpic reports whether a file is the list of the tasks of a CCPM epic. The list may be older than the files, so the
// files decide.
func isEpic(name string) bool { return baseName(name) == "epic.md" }

var epic = tool{dialect: "ccpm-files", item: "file that is a task", read: readEpic, describe: describeEpic}

func readEpic(records *records) {
	x := fileReader{records}
	x.each(formEpicTask, func(k int) {
		if f := &x.files[k]; f.front.fields != nil {
			x.addFile(k, task{id: idOfName(f.Name), from: f.From, to: f.To, named: f.front.placeOf("name"), waits: f.front.words("depends_on")})
		}
	})
	for i := range x.boxes {
		if b := &x.boxes[i]; isEpic(x.files[b.file].Name) && b.place == plan.InText {
			x.compareEpic(b)
		}
	}
	for k := range x.files {
		x.files[k].taken = x.files[k].taken || isEpic(x.files[k].Name)
	}
}

// compareEpic compares a checkbox of the list with the file that it names.
func (x *fileReader) compareEpic(b *box) {
	id := listedTask(b.title)
	at := x.rows.Find(id)
	switch {
	case id == "":
		return
	case at < 0:
		x.refuse(b, plan.SeverityWarning, "file_missing",
			fmt.Sprintf("the list names the task %s, but the folder has no file %s.md", lex.Clip(id), lex.Clip(id)))
		return
	}
	b.listed = true
	e := &x.rows.Entries[at]
	if done := b.mark == "x" || b.mark == "X"; done == (e.Status == plan.Completed) {
		x.refuse(b, plan.SeverityInfo, "not_a_task_section",
			fmt.Sprintf("this line lists %s, whose status is in %s", e.ID, lex.Clip(x.source(e))))
		return
	}
	x.refuse(b, plan.SeverityWarning, "list_contradicts_file",
		fmt.Sprintf("the list has [%s] for %s, which is %s (%s): the file counts", b.mark, e.ID, e.Status, x.rows.Where(at)))
}

func (x *fileReader) source(e *plan.Entry) string {
	if x.rows.Files == nil {
		return ""
	}
	return x.rows.Files[x.rows.FileAt(int(e.From))].Name
}

// listedTask returns the task number at the beginning of a line: "001.md - Hive scale" or "#1234 - Hive scale". It
// returns "" for any other line.
func listedTask(title string) string {
	title = strings.TrimLeft(title, "*`[")
	bare := strings.TrimPrefix(title, "#")
	number := bare[:len(bare)-len(strings.TrimLeft(bare, "0123456789"))]
	if number != "" && (bare != title || strings.HasPrefix(bare[len(number):], ".md")) {
		return number
	}
	return ""
}

// frontOfItem parses the front matter of the file that contains an item.
func frontOfItem(text string, e *plan.Entry) front {
	f, _ := frontOf(text, bodyOf(text, int(e.From), int(e.To)), int(e.To))
	return f
}

func describeBacklog(text string, e *plan.Entry, it *plan.Item) {
	f := frontOfItem(text, e)
	it.Title = f.word("title")
	for _, d := range [...]struct{ key, label string }{
		{"priority", "Priority: "}, {"labels", "Labels: "}, {"assignee", "Assignee: "}, {"milestone", "Milestone: "},
	} {
		if words := f.words(d.key); words != nil {
			it.Details = append(it.Details, d.label+strings.Join(words, ", "))
		}
	}
	describe.Sections(it, text[f.body:e.To])
}

func describeEpic(text string, e *plan.Entry, it *plan.Item) {
	f := frontOfItem(text, e)
	it.Title, it.Parallel = f.word("name"), f.word("parallel") == "true"
	if words := f.words("conflicts_with"); words != nil {
		it.Details = append(it.Details, "Conflicts with: "+strings.Join(words, ", "))
	}
	describe.Sections(it, text[f.body:e.To])
}
