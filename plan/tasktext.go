package plan

import (
	"fmt"
	"strings"
)

// This file reads the text files of task-master. They have "# Task ID: 7" and further labels, then "# Details:" with
// free text, including code with lines that begin with "#", and subtasks below "# Subtasks:".

const taskIDLabel = "# Task ID:"

var taskMasterGrammar = grammar{
	dialects: []string{taskMaster},
	records:  readTaskMaster,
	describe: describeTask,
	usable:   "pending, in-progress, review, done, deferred, cancelled or blocked",
	missing:  `no JSON with tasks in a list "tasks", and no line "# Task ID: 7"`,
}

// taskLabels are the labels of a task, by which its lines begin.
var taskLabels = [...]string{
	"# Title:", "# Status:", "# Dependencies:", "# Priority:", "# Description:", "# Details:", "# Test Strategy:", "# Subtasks:",
}

// subtaskLabels are the labels of a subtask.
var subtaskLabels = [...]string{"### Dependencies:", "### Description:", "### Details:"}

// taskLine is a line of a text file: a label that is valid in this context, or text.
type taskLine struct {
	label string // "" for text, "##" for the heading of a subtask
	value string
	at    int // of the value
	start int // of the line
}

// taskText iterates over the lines of a text file and classifies them.
type taskText struct {
	scanner
	from int
	// open is the label to which the lines belong.
	open string
}

func newTaskText(text string, from, to int) *taskText {
	return &taskText{scanner: newScanner(text[from:to]), from: from}
}

// next returns the next line that is not blank.
func (t *taskText) next() (taskLine, bool) {
	for t.scan() {
		if t.blank() {
			continue
		}
		ln := taskLine{value: t.text, at: t.from + t.start, start: t.from + t.start}
		if t.place == placeText {
			t.classify(&ln)
		}
		return ln, true
	}
	return taskLine{}, false
}

// classify finds the label of a line. After "# Details:", only the labels that end the details count, because details
// may contain any text.
func (t *taskText) classify(ln *taskLine) {
	text := t.text
	label := ""
	switch {
	case strings.HasPrefix(text, taskIDLabel):
		label = taskIDLabel
	case strings.HasPrefix(t.open, "##") || t.open == "# Subtasks:":
		if id, _, _ := subtaskHeading(text); id != "" {
			label = "##"
			break
		}
		label = labelOf(text, subtaskLabels[:])
	default:
		label = labelOf(text, taskLabels[:])
	}
	if (t.open == "# Details:" || t.open == "# Test Strategy:") && label != taskIDLabel && label != "# Test Strategy:" && label != "# Subtasks:" {
		label = ""
	}
	if label == "" {
		return
	}
	t.open, ln.label = label, label
	if label != "##" {
		ln.value = trim(text[len(label):])
		ln.at += len(text) - len(ln.value)
	}
}

func labelOf(text string, labels []string) string {
	for _, label := range labels {
		if strings.HasPrefix(text, label) {
			return label
		}
	}
	return ""
}

// subtaskHeading reads "## 1. Title [pending]". A heading without a status belongs to an item's details.
func subtaskHeading(text string) (id, title, status string) {
	rest, ok := strings.CutPrefix(text, "## ")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if !ok || digits == 0 || digits == len(rest) || rest[digits] != '.' {
		return "", "", ""
	}
	title = trim(rest[digits+1:])
	open := strings.LastIndexByte(title, '[')
	if open < 0 || !strings.HasSuffix(title, "]") {
		return "", "", ""
	}
	status = title[open+1 : len(title)-1]
	if status == "" || strings.Trim(strings.ToLower(status), "abcdefghijklmnopqrstuvwxyz- ") != "" {
		return "", "", ""
	}
	return rest[:digits], trim(title[:open]), status
}

// taskReader collects the records of a text file.
type taskReader struct {
	x    *records
	k    int
	recs []record
	own  []string // the task id of each subtask, "" for a task
}

// readTaskText parses the tasks of a text file without creating items.
func (x *records) readTaskText(k int) *taskReader {
	f := &x.files[k]
	r := &taskReader{x: x, k: k}
	t := newTaskText(x.src, f.from, f.to)
	for ln, ok := t.next(); ok; ln, ok = t.next() {
		r.line(ln)
	}
	if len(r.recs) > 0 {
		r.recs[len(r.recs)-1].to = f.to
	}
	return r
}

func (r *taskReader) line(ln taskLine) {
	switch ln.label {
	case taskIDLabel:
		r.begin(record{id: ln.value, named: ln.at, from: ln.start}, "")
		return
	case "##":
		id, _, status := subtaskHeading(ln.value)
		task := r.task()
		r.begin(record{id: task + "." + id, named: ln.at, from: ln.start}, task)
		r.status(ln.at+strings.LastIndexByte(ln.value, '[')+1, status)
		return
	}
	if len(r.recs) == 0 {
		return
	}
	rec := &r.recs[len(r.recs)-1]
	switch ln.label {
	case "# Status:":
		r.status(ln.at, ln.value)
	case "# Dependencies:", "### Dependencies:":
		for id := range strings.SplitSeq(ln.value, ",") {
			if id = bareID(id); id != "" && !isNone(id) {
				rec.waits = append(rec.waits, id)
			}
		}
	}
}

func (r *taskReader) begin(rec record, own string) {
	if last := len(r.recs) - 1; last >= 0 {
		r.recs[last].to = rec.from
	}
	r.recs, r.own = append(r.recs, rec), append(r.own, own)
}

// task returns the id of the current task.
func (r *taskReader) task() string {
	last := len(r.recs) - 1
	if last < 0 {
		return ""
	}
	if r.own[last] != "" {
		return r.own[last]
	}
	return r.recs[last].id
}

func (r *taskReader) status(at int, word string) {
	rec := &r.recs[len(r.recs)-1]
	if rec.status = r.x.readStatus(r.k, at, word); word != "" {
		rec.mark = Span{at, at + len(word)}
	}
}

// enter creates the items of the records.
func (r *taskReader) enter() {
	var task int32
	for i, rec := range r.recs {
		if rec.status == 0 {
			rec.status = r.x.readStatus(r.k, rec.named, "")
		}
		if r.own[i] != "" {
			rec.below = task
			rec.waits = r.x.local(r.own[i], rec.waits)
		}
		if at := r.x.add(r.k, rec); r.own[i] == "" {
			task = at + 1
		}
	}
}

// local marks the numbers that may refer to sibling subtasks.
func (x *records) local(task string, waits []string) (ids []string) {
	for _, id := range waits {
		if strings.IndexByte(id, '.') < 0 {
			id = task + localMark + id
		}
		ids = append(ids, id)
	}
	return ids
}

// compareText compares a text file with the tasks in the JSON file, which takes precedence.
func (x *records) compareText(k int) {
	found := len(x.found)
	r := x.readTaskText(k)
	x.found = x.found[:found]
	for _, rec := range r.recs {
		at := x.r.find(rec.id)
		switch {
		case at < 0:
			x.note(k, rec.named, SeverityWarning, "text_contradicts_json",
				fmt.Sprintf("task %s is not in the JSON, which counts", clip(rec.id)))
		case rec.status != 0 && rec.status != x.r.entries[at].status:
			e := &x.r.entries[at]
			x.note(k, rec.mark.Start, SeverityWarning, "text_contradicts_json",
				fmt.Sprintf("task %s is %s here and %s in %s, which counts", e.id, rec.status, e.status, x.r.where(e)))
		}
	}
}

// describeTaskText fills in the description of a task or subtask from its lines.
func describeTaskText(r *Reading, e *entry, it *Item) {
	t := newTaskText(r.text, int(e.from), int(e.to))
	t.open = "# Subtasks:" // so that the heading of a subtask counts as a label
	said := -1             // offset of text without a label
	tell := func(to int) {
		if said >= 0 {
			prose(it, r.text[said:to])
		}
		said = -1
	}
	for n := 0; ; n++ {
		ln, ok := t.next()
		if !ok || n > 0 && ln.label == "##" || ln.label == "# Subtasks:" {
			if !ok {
				ln.start = int(e.to)
			}
			tell(ln.start)
			return
		}
		if ln.label == "" {
			if said < 0 {
				said = ln.start
			}
			continue
		}
		tell(ln.start)
		describeLabel(&ln, it)
	}
}

// describeLabel processes a line with a label. The label of the details is omitted.
func describeLabel(ln *taskLine, it *Item) {
	switch ln.label {
	case taskIDLabel, "# Status:", "# Dependencies:", "### Dependencies:":
	case "##":
		_, it.Title, _ = subtaskHeading(ln.value)
	case "# Title:":
		it.Title = ln.value
	default:
		if name := strings.Trim(ln.label, "# "); ln.value != "" || name == "Test Strategy:" {
			it.Details = append(it.Details, trimRight(name+" "+ln.value))
		}
	}
}
