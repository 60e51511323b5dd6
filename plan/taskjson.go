package plan

import (
	"fmt"
	"strings"
)

// This file reads the tasks.json of task-master: {"tasks": […]}, or a list for each tag: {"master": {"tasks": […]},
// "next": {"tasks": […]}}.

// masterTag is the default tag.
const masterTag = "master"

func readTaskMaster(x *records) {
	x.each(formTaskJSON, x.readTaskJSON)
	if x.r.Len() > 0 {
		x.each(formTaskText, x.compareText)
	} else {
		x.each(formTaskText, func(k int) { x.readTaskText(k).enter() })
	}
	x.localise()
}

// readTaskJSON reads a JSON file, or reports why it cannot be read.
func (x *records) readTaskJSON(k int) {
	f := &x.files[k]
	from := f.from + bodyOf(x.src[f.from:f.to])
	root := jsonAt{raw: strings.TrimRight(x.src[from:f.to], " \t\r\n"), from: from}
	if root.raw == "" {
		return
	}
	if at, ok := root.valid(); !ok {
		line, _ := x.places.of(k, at)
		message := "the JSON breaks off"
		if at < root.to() {
			message = fmt.Sprintf("this is not valid JSON from %q on", clip(trim(firstLine(x.src[at:f.to]))))
		}
		x.fault = &ParseError{Reason: ReasonInvalidJSON, Line: line, Offset: at, Message: fmt.Sprintf("line %d: %s", line, message)}
		if f.name != "" {
			x.note(k, at, SeverityError, "file_unreadable", message+": its tasks are lost")
		}
		return
	}
	j := taskJSON{x: x, k: k}
	j.root(&root)
}

// firstLine returns the first line of a text.
func firstLine(text string) string {
	c := cursor{src: text, lf: -1, cr: -1}
	_, end, _ := c.next()
	return text[:end]
}

// taskJSON creates items from the tasks in a JSON file.
type taskJSON struct {
	x      *records
	k      int
	prefix string // of all ids: "tag:", or "" for the default tag
}

// root reads the tasks of all tags.
func (j *taskJSON) root(root *jsonAt) {
	type tagged struct {
		name  string
		tasks jsonAt
	}
	var tags []tagged
	master := ""
	j.members(root, func(name string, value jsonAt) {
		if name == "tasks" && value.kind() == '[' {
			tags = append(tags, tagged{"", value})
			return
		}
		j.members(&value, func(member string, tasks jsonAt) {
			if member == "tasks" && tasks.kind() == '[' {
				tags = append(tags, tagged{name, tasks})
				if name == masterTag {
					master = masterTag
				}
			}
		})
	})
	for _, tag := range tags {
		if j.prefix = ""; tag.name != master && tag.name != "" && len(tags) > 1 {
			j.prefix = tag.name + ":"
		}
		tag.tasks.elements(func(task jsonAt) { j.task(&task, "", 0) })
	}
}

// members calls fn for each member of an object. Of two members with the same name, the last one counts, as in the
// tools that write these files.
func (j *taskJSON) members(v *jsonAt, fn func(name string, value jsonAt)) {
	type member struct {
		name  string
		value jsonAt
	}
	var all []member
	places := map[string]int{}
	v.members(func(name, value jsonAt) {
		key := name.text()
		if at, twice := places[key]; twice {
			j.x.note(j.k, name.from, SeverityWarning, "duplicate_name",
				fmt.Sprintf("%q occurs twice in this object: the last one counts", clip(key)))
			all[at].value = value
			return
		}
		places[key] = len(all)
		all = append(all, member{key, value})
	})
	for _, m := range all {
		fn(m.name, m.value)
	}
}

// task creates the items of a task and its subtasks.
func (j *taskJSON) task(v *jsonAt, task string, below int32) {
	if v.kind() != '{' {
		j.x.note(j.k, v.from, SeverityError, "not_a_task", "this is not an object, so it is not a task: "+clip(v.raw))
		return
	}
	rec := record{prefix: j.prefix + "task", from: v.from, to: v.to(), named: v.from, below: below}
	if task != "" {
		rec.prefix = task
	}
	var subtasks jsonAt
	status := jsonAt{raw: "null", from: v.from}
	j.members(v, func(name string, value jsonAt) {
		switch name {
		case "id":
			if id := trim(value.text()); id != "" {
				rec.id, rec.named = j.id(task, id), value.from
			}
		case "status":
			status = value
		case "dependencies":
			rec.waits = j.waits(task, value.texts())
		case "subtasks":
			subtasks = value
		}
	})
	rec.status = j.x.readStatus(j.k, status.from, trim(status.text()))
	rec.mark, _ = status.word()
	at := j.x.add(j.k, rec)
	switch {
	case subtasks.raw == "" || subtasks.kind() != '[':
	case task != "":
		subtasks.elements(func(lost jsonAt) {
			j.x.note(j.k, lost.from, SeverityError, "not_a_task", "task-master has no subtasks of subtasks, so this is not a task: "+clip(lost.raw))
		})
	default:
		id := j.x.r.entries[at].id
		subtasks.elements(func(subtask jsonAt) { j.task(&subtask, id, at+1) })
	}
}

// id returns the unique id of a task in the plan. In the file, the id of a subtask is only unique in its task.
func (j *taskJSON) id(task, id string) string {
	if task == "" {
		return j.prefix + id
	}
	if own := strings.TrimPrefix(task, j.prefix); strings.HasPrefix(id, own+".") {
		return j.prefix + id
	}
	return task + "." + id
}

// waits returns the ids in a list. In a subtask, a bare number may refer to a sibling. This is resolved when all items
// are known.
func (j *taskJSON) waits(task string, ids []string) (all []string) {
	for _, id := range ids {
		if task == "" || strings.IndexByte(id, '.') >= 0 {
			id = j.prefix + id
		} else {
			id = task + localMark + id
		}
		all = append(all, id)
	}
	return all
}

// localMark separates the id of a task and a bare number in one of its subtasks, until the number is resolved. No id
// contains it.
const localMark = "\x00"

// localise resolves bare numbers in subtasks: to a sibling, or else to a task.
func (x *records) localise() {
	for _, ids := range x.waiting {
		for i, id := range ids {
			task, number, local := strings.Cut(id, localMark)
			if !local {
				continue
			}
			ids[i] = task + "." + number
			if whole := tagOf(task) + number; x.r.find(ids[i]) < 0 && x.r.find(whole) >= 0 {
				ids[i] = whole
			}
		}
	}
}

// tagOf returns the tag prefix of an id.
func tagOf(task string) string { return task[:strings.LastIndexByte(task, ':')+1] }

// describeTask fills in the description of a task.
func describeTask(r *Reading, e *entry, it *Item) {
	text := r.text[e.from:e.to]
	if !strings.HasPrefix(text, "{") {
		describeTaskText(r, e, it)
		return
	}
	said := map[string]string{}
	v := jsonAt{raw: text}
	v.members(func(name, value jsonAt) {
		said[name.text()] = strings.TrimSpace(value.text())
	})
	it.Title = said["title"]
	for _, d := range [...]struct{ key, label string }{
		{"priority", "Priority: "}, {"description", "Description: "}, {"details", "Details: "}, {"testStrategy", "Test strategy: "},
	} {
		if said[d.key] != "" {
			it.Details = append(it.Details, d.label+said[d.key])
		}
	}
}
