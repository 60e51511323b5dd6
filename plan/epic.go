package plan

import (
	"fmt"
	"strings"
)

// This file reads the folder of a CCPM epic: "001.md" and so on with front matter, and epic.md with a list of
// checkboxes. The list may be older than the files, so the files decide.

var epicGrammar = grammar{
	dialects: []string{epicFiles},
	records:  readEpic,
	describe: describeEpic,
	usable:   "open, in-progress or closed",
	missing:  `no front matter with "status" and "depends_on", "parallel" or "conflicts_with"`,
}

// isEpic reports whether a file is the list of the tasks.
func isEpic(name string) bool { return name[strings.LastIndexByte(name, '/')+1:] == "epic.md" }

func readEpic(x *records) {
	x.each(formEpicTask, x.readEpicTask)
	for k := range x.files {
		if isEpic(x.files[k].name) {
			x.files[k].taken = true
			x.compareEpic(k)
		}
	}
}

func (x *records) readEpicTask(k int) {
	f := &x.files[k]
	if f.front.fields == nil {
		return
	}
	rec := record{
		id: idOfName(f.name), from: f.from, to: f.to, named: f.front.placeOf(f.front.value("name")), waits: f.front.words("depends_on"),
	}
	x.frontStatus(k, &rec)
	x.add(k, rec)
	x.checkFront(k)
}

// compareEpic compares the checkboxes of a list with the files that they name.
func (x *records) compareEpic(k int) {
	for i := range x.boxes {
		b := &x.boxes[i]
		id := listedTask(b.title)
		if b.file != k || b.place != placeText || id == "" {
			continue
		}
		at := x.r.find(id)
		if at < 0 {
			x.refuseBox(b, SeverityWarning, "file_missing",
				fmt.Sprintf("the list names the task %s, but the folder has no file %s.md", clip(id), clip(id)))
			continue
		}
		b.listed = true
		e := &x.r.entries[at]
		if done := b.mark == "x" || b.mark == "X"; done == (e.status == Completed) {
			x.refuseBox(b, SeverityInfo, "not_a_task_section",
				fmt.Sprintf("this line lists %s, whose status is in %s", e.id, clip(x.r.source(e))))
		} else {
			x.refuseBox(b, SeverityWarning, "list_contradicts_file",
				fmt.Sprintf("the list has [%s] for %s, which is %s (%s): the file counts", b.mark, e.id, e.status, x.r.where(e)))
		}
	}
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

// describeEpic fills in the description of an item from its file.
func describeEpic(r *Reading, e *entry, it *Item) {
	f, _ := readFront(r.text, int(e.from), int(e.to))
	it.Title = f.word("name")
	it.Parallel = f.word("parallel") == "true"
	if words := f.words("conflicts_with"); words != nil {
		it.Details = append(it.Details, "Conflicts with: "+strings.Join(words, ", "))
	}
	describeText(r.text[f.body:e.to], it)
}
