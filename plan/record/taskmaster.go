package record

import (
	"fmt"
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// This file reads the tasks.json of task-master: {"tasks": […]}, or a list for each tag: {"master": {"tasks": […]},
// "next": {"tasks": […]}}. Beside it may be a text file for each task, see tasktext.go. The JSON takes precedence.

// masterTag is the default tag.
const masterTag = "master"

// taskReader reads the files of task-master.
type taskReader struct{ *records }

var taskMaster = tool{dialect: "task-master", item: "task with an id and a status", read: readTaskMaster, describe: describeTask}

func readTaskMaster(records *records) {
	x := taskReader{records}
	x.each(formTaskJSON, x.readTaskJSON)
	if len(x.rows.Entries) > 0 {
		x.each(formTaskText, x.compareText)
	} else {
		x.each(formTaskText, x.enterText)
	}
	x.localise()
}

// readTaskJSON reads a JSON file, or reports why it cannot be read.
func (x *taskReader) readTaskJSON(k int) {
	f := &x.files[k]
	raw := strings.TrimRight(x.text[f.begin:f.To], " \t\r\n")
	if raw == "" {
		return
	}
	if at, err := lex.CheckJSON(raw, false); err != nil {
		message := "the JSON breaks off"
		if at += f.begin; at < f.begin+len(raw) {
			line, _ := cutLine(x.text[:f.To], at)
			message = fmt.Sprintf("this is not valid JSON from %q on", lex.Clip(lex.Trim(line)))
		}
		line := x.line(at)
		x.refusal = &plan.ParseError{Reason: plan.ReasonInvalidJSON, Line: line, Offset: at, Message: fmt.Sprintf("line %d: %s", line, message)}
		if f.Name != "" {
			x.notes.Add(at, plan.SeverityError, "file_unreadable", message+": its tasks are lost")
		}
		return
	}
	j := taskJSON{x: x.records}
	j.root(&lex.JSON{Text: x.text, From: f.begin, To: f.begin + len(raw)})
}

// taskJSON creates items from the tasks in a JSON file.
type taskJSON struct {
	x      *records
	prefix string // of all ids: "tag:", or "" for the default tag
}

// root reads the tasks of all tags.
func (j *taskJSON) root(root *lex.JSON) {
	type tagged struct {
		name  string
		tasks lex.JSON
	}
	var tags []tagged
	master := ""
	for _, m := range j.members(root) {
		if m.name == "tasks" && m.Is('[') {
			tags = append(tags, tagged{"", m.JSON})
			continue
		}
		if m.Is('[') && j.lists(&m.JSON) {
			tags = append(tags, tagged{m.name, m.JSON})
			continue
		}
		for _, of := range j.members(&m.JSON) {
			if of.name != "tasks" || !of.Is('[') {
				continue
			}
			if tags = append(tags, tagged{m.name, of.JSON}); m.name == masterTag {
				master = masterTag
			}
		}
	}
	for _, tag := range tags {
		if j.prefix = ""; tag.name != master && tag.name != "" && len(tags) > 1 {
			j.prefix = tag.name + ":"
		}
		tag.tasks.Elements(func(task lex.JSON) { j.task(&task, "", 0) })
	}
}

// lists reports whether a list has tasks: its first element has an id and a status.
func (j *taskJSON) lists(v *lex.JSON) bool {
	known, first := 0, true
	v.Elements(func(task lex.JSON) {
		if !first {
			return
		}
		first = false
		task.Members(func(name, _ lex.JSON) {
			if key := name.Word(); key == "id" || key == "status" {
				known++
			}
		})
	})
	return known == 2
}

// member is a member of an object.
type member struct {
	name string
	lex.JSON
}

// members returns the members of an object. Of two members with the same name, the last one counts, as in the tools
// that write these files.
func (j *taskJSON) members(v *lex.JSON) (all []member) {
	var places map[string]int // of the names of a large object
	v.Members(func(name, of lex.JSON) {
		key, at := name.Word(), -1
		switch {
		case places != nil:
			if known, ok := places[key]; ok {
				at = known
			}
		default:
			for k := range all {
				if all[k].name == key {
					at = k
				}
			}
		}
		if at >= 0 {
			j.x.notes.Add(name.From, plan.SeverityWarning, "duplicate_name", fmt.Sprintf("%q occurs twice in this object: the last one counts", lex.Clip(key)))
			all[at].JSON = of
			return
		}
		all = append(all, member{key, of})
		const small = 16
		if places == nil && len(all) > small {
			places = map[string]int{}
			for k := range all {
				places[all[k].name] = k
			}
		} else if places != nil {
			places[key] = len(all) - 1
		}
	})
	return all
}

// task creates the items of a task and its subtasks. of is the id of the task if the value is a subtask.
func (j *taskJSON) task(v *lex.JSON, of string, below int32) {
	if !v.Is('{') {
		j.x.notes.Add(v.From, plan.SeverityError, "not_a_task", "this is not an object, so it is not a task: "+lex.Clip(v.Raw()))
		return
	}
	t := task{prefix: j.prefix + "task", from: v.From, to: v.To, named: v.From, below: below}
	if of != "" {
		t.prefix = of
	}
	var subtasks lex.JSON
	status := lex.JSON{From: v.From}
	for _, m := range j.members(v) {
		switch m.name {
		case "id":
			if id := lex.Trim(m.Word()); id != "" {
				t.id, t.named = j.id(of, id), m.From
			}
		case "status":
			status = m.JSON
		case "dependencies":
			t.waits = j.waits(of, m.Words())
		case "subtasks":
			subtasks = m.JSON
		}
	}
	word := ""
	if status.To > 0 {
		word, t.mark = lex.Trim(status.Word()), status.Mark()
	}
	t.status = j.x.status(status.From, word)
	at := j.x.add(t)
	if of != "" {
		subtasks.Elements(func(lost lex.JSON) {
			j.x.notes.Add(lost.From, plan.SeverityError, "not_a_task", "task-master has no subtasks of subtasks, so this is not a task: "+lex.Clip(lost.Raw()))
		})
		return
	}
	id := j.x.rows.Entries[at].ID
	subtasks.Elements(func(subtask lex.JSON) { j.task(&subtask, id, at+1) })
}

// id returns the unique id of a task in the plan. In the file, the id of a subtask is only unique in its task.
func (j *taskJSON) id(of, id string) string {
	if of == "" || strings.HasPrefix(id, strings.TrimPrefix(of, j.prefix)+".") {
		return j.prefix + id
	}
	return of + "." + id
}

// waits returns the ids in a list. In a subtask, a bare number may refer to a sibling.
func (j *taskJSON) waits(of string, ids []string) []string {
	for i, id := range ids {
		if of == "" || strings.IndexByte(id, '.') >= 0 {
			ids[i] = j.prefix + id
		} else {
			ids[i] = of + localMark + id
		}
	}
	return ids
}

// localMark separates the id of a task and a bare number in one of its subtasks, until the number is resolved. No id
// contains it.
const localMark = "\x00"

// localise resolves bare numbers in subtasks: to a sibling, or else to a task.
func (x *taskReader) localise() {
	for _, ids := range x.waits {
		for i, id := range ids {
			of, number, local := strings.Cut(id, localMark)
			if !local {
				continue
			}
			ids[i] = of + "." + number
			if whole := of[:strings.LastIndexByte(of, ':')+1] + number; x.rows.Find(ids[i]) < 0 && x.rows.Find(whole) >= 0 {
				ids[i] = whole
			}
		}
	}
}

func describeTask(text string, e *plan.Entry, it *plan.Item) {
	if !strings.HasPrefix(text[e.From:], "{") {
		describeTaskText(text, e, it)
		return
	}
	said := map[string]string{}
	v := lex.JSON{Text: text, From: int(e.From), To: int(e.To)}
	v.Members(func(name, member lex.JSON) { said[name.Word()] = strings.TrimSpace(member.Word()) })
	it.Title = said["title"]
	for _, d := range [...]struct{ key, label string }{
		{"priority", "Priority: "}, {"description", "Description: "}, {"details", "Details: "}, {"testStrategy", "Test strategy: "},
	} {
		if said[d.key] != "" {
			it.Details = append(it.Details, d.label+said[d.key])
		}
	}
}
