package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// This file reads the text files of task-master. They have "# Task ID: 7" and further labels, then "# Details:" with
// free text, including code with lines that begin with "#", and subtasks below "# Subtasks:".

const (
	taskIDLabel     = "# Task ID:"
	statusLabel     = "# Status:"
	waitsLabel      = "# Dependencies:"
	subWaitsLabel   = "### Dependencies:"
	detailsLabel    = "# Details:"
	strategyLabel   = "# Test Strategy:"
	subtasksLabel   = "# Subtasks:"
	subtaskHeading  = "##"
	titleLabel      = "# Title:"
	statusLetters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ- "
	subtaskBeginsAs = "## "
)

// taskLabels are the labels of a task, by which its lines begin, and subtaskLabels those of a subtask.
var (
	taskLabels    = []string{titleLabel, statusLabel, waitsLabel, "# Priority:", "# Description:", detailsLabel, strategyLabel, subtasksLabel}
	subtaskLabels = []string{subWaitsLabel, "### Description:", "### Details:"}
)

// taskLine is a line of a text file: a label that is valid in this context, or text.
type taskLine struct {
	label string // "" for text
	value string
	at    int // of the value
	start int // of the line
}

// taskLines calls fn for each line that is not blank. open is the label to which the first line belongs.
func taskLines(text string, from, to int, open string, fn func(ln taskLine) bool) {
	s := block.FileScanner(text, from, to, nil)
	for s.Scan() {
		if s.Blank() {
			continue
		}
		ln := taskLine{value: s.Text, at: s.Start, start: s.Start}
		if s.Place == plan.InText {
			if ln.label = labelOf(s.Text, open); ln.label != "" {
				open = ln.label
			}
			if ln.label != "" && ln.label != subtaskHeading {
				ln.value = lex.Trim(s.Text[len(ln.label):])
				ln.at += len(s.Text) - len(ln.value)
			}
		}
		if !fn(ln) {
			return
		}
	}
}

// labelOf returns the label of a line. After "# Details:", only the labels that end the details count, because details
// may contain any text.
func labelOf(text, open string) string {
	labels := taskLabels
	switch {
	case strings.HasPrefix(text, taskIDLabel):
		return taskIDLabel
	case open == detailsLabel, open == strategyLabel:
		labels = []string{strategyLabel, subtasksLabel}
	case strings.HasPrefix(open, subtaskHeading), open == subtasksLabel:
		if id, _, _ := readSubtask(text); id != "" {
			return subtaskHeading
		}
		labels = subtaskLabels
	}
	if i := slices.IndexFunc(labels, func(label string) bool { return strings.HasPrefix(text, label) }); i >= 0 {
		return labels[i]
	}
	return ""
}

// readSubtask reads "## 1. Title [pending]". A heading without a status belongs to the details of an item.
func readSubtask(text string) (id, title, status string) {
	rest, ok := strings.CutPrefix(text, subtaskBeginsAs)
	id = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	rest, stopped := strings.CutPrefix(rest[len(id):], ".")
	rest = lex.Trim(rest)
	open := strings.LastIndexByte(rest, '[')
	if !ok || id == "" || !stopped || open < 0 || !strings.HasSuffix(rest, "]") {
		return "", "", ""
	}
	if status = rest[open+1 : len(rest)-1]; status == "" || strings.Trim(status, statusLetters) != "" {
		return "", "", ""
	}
	return id, lex.Trim(rest[:open]), status
}

// textTask is a task or a subtask of a text file. of is the id of the task of a subtask.
type textTask struct {
	task
	of string
}

// readTaskText parses the tasks of a text file without creating items. read parses a status.
func (x *taskReader) readTaskText(k int, read func(at int, word string) plan.Status) (all []textTask) {
	f := &x.files[k]
	begin := func(ln *taskLine, id, of string) {
		if len(all) > 0 {
			all[len(all)-1].to = ln.start
		}
		all = append(all, textTask{task{id: id, named: ln.at, from: ln.start, to: f.To}, of})
	}
	status := func(at int, word string) {
		t := &all[len(all)-1]
		if t.status = read(at, word); word != "" {
			t.mark = plan.Span{Start: at, End: at + len(word)}
		}
	}
	taskLines(x.text, f.From, f.To, "", func(ln taskLine) bool {
		last := len(all) - 1
		switch {
		case ln.label == taskIDLabel:
			begin(&ln, ln.value, "")
		case ln.label == subtaskHeading:
			of := ""
			if last >= 0 {
				of = cmp.Or(all[last].of, all[last].id)
			}
			id, _, word := readSubtask(ln.value)
			begin(&ln, of+"."+id, of)
			status(ln.at+strings.LastIndexByte(ln.value, '[')+1, word)
		case last < 0:
		case ln.label == statusLabel:
			status(ln.at, ln.value)
		case ln.label == waitsLabel, ln.label == subWaitsLabel:
			for id := range strings.SplitSeq(ln.value, ",") {
				if id = graph.Bare(id); id != "" && !lex.IsNone(id) {
					all[last].waits = append(all[last].waits, id)
				}
			}
		}
		return true
	})
	return all
}

// enterText creates the items of a text file.
func (x *taskReader) enterText(k int) {
	var below int32
	for _, t := range x.readTaskText(k, x.status) {
		if t.status == 0 {
			t.status = x.status(t.named, "")
		}
		if t.of != "" {
			t.below = below
			for i, id := range t.waits {
				if strings.IndexByte(id, '.') < 0 {
					t.waits[i] = t.of + localMark + id
				}
			}
		}
		if at := x.add(t.task); t.of == "" {
			below = at + 1
		}
	}
}

// compareText compares a text file with the tasks in the JSON file.
func (x *taskReader) compareText(k int) {
	for _, t := range x.readTaskText(k, func(_ int, word string) plan.Status {
		status, known := lex.WordStatus(word)
		if !known {
			return plan.Pending
		}
		return status
	}) {
		at := x.rows.Find(t.id)
		if at < 0 {
			x.notes.Add(t.named, plan.SeverityWarning, "text_contradicts_json", fmt.Sprintf("task %s is not in the JSON, which counts", lex.Clip(t.id)))
			continue
		}
		if e := &x.rows.Entries[at]; t.status != 0 && t.status != e.Status {
			x.notes.Add(t.mark.Start, plan.SeverityWarning, "text_contradicts_json",
				fmt.Sprintf("task %s is %s here and %s in %s, which counts", e.ID, t.status, e.Status, x.rows.Where(at)))
		}
	}
}

// describeTaskText fills in the description of a task or subtask from its lines.
func describeTaskText(text string, e *plan.Entry, it *plan.Item) {
	said, first := -1, true // the offset of text without a label
	tell := func(to int) {
		if said >= 0 {
			describe.Prose(it, text[said:to])
		}
		said = -1
	}
	end := int(e.To)
	taskLines(text, int(e.From), end, subtasksLabel, func(ln taskLine) bool {
		switch {
		case !first && ln.label == subtaskHeading, ln.label == subtasksLabel:
			end = ln.start
			return false
		case ln.label != "":
			tell(ln.start)
			describeLabel(&ln, it)
		case said < 0:
			said = ln.start
		}
		first = false
		return true
	})
	tell(end)
}

// describeLabel processes a line with a label. The label of the details is omitted.
func describeLabel(ln *taskLine, it *plan.Item) {
	switch ln.label {
	case taskIDLabel, statusLabel, waitsLabel, subWaitsLabel:
	case subtaskHeading:
		_, it.Title, _ = readSubtask(ln.value)
	case titleLabel:
		it.Title = ln.value
	default:
		if name := strings.Trim(ln.label, "# "); ln.value != "" || ln.label == strategyLabel {
			it.Details = append(it.Details, lex.TrimRight(name+" "+ln.value))
		}
	}
}
