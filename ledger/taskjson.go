package ledger

import (
	"fmt"
	"strings"
)

// This file knows the tasks.json of task-master: {"tasks": […]}, or a list for
// each tag: {"master": {"tasks": […]}, "next": {"tasks": […]}}.

// masterTag is the tag whose tasks are meant when no tag is named.
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

// readTaskJSON reads a file of JSON, or says why that cannot be done.
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
			message = fmt.Sprintf("this is no JSON, from %q on", clip(trim(firstLine(x.src[at:f.to]))))
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

// firstLine gives a text up to the end of its line.
func firstLine(text string) string {
	c := cursor{src: text, lf: -1, cr: -1}
	_, end, _ := c.next()
	return text[:end]
}

// taskJSON makes items of the tasks in a file of JSON.
type taskJSON struct {
	x      *records
	k      int
	prefix string // of all ids, "tag:" for another tag than that which is meant
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

// members calls fn for each member of an object. Of two with one name the last
// one counts, as it does for those who write these files.
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
				fmt.Sprintf("%q stands twice in this object: the last counts", clip(key)))
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

// task makes an item of a task, and of its subtasks.
func (j *taskJSON) task(v *jsonAt, task string, below int32) {
	if v.kind() != '{' {
		j.x.note(j.k, v.from, SeverityError, "not_a_task", "this is no object, so it is no task: "+clip(v.raw))
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
			j.x.note(j.k, lost.from, SeverityError, "not_a_task", "subtasks of subtasks are not known to task-master, so this is no task: "+clip(lost.raw))
		})
	default:
		id := j.x.r.entries[at].id
		subtasks.elements(func(subtask jsonAt) { j.task(&subtask, id, at+1) })
	}
}

// id gives the id by which a task is known in the whole plan. That of a subtask
// is a number of its own in the file.
func (j *taskJSON) id(task, id string) string {
	if task == "" {
		return j.prefix + id
	}
	if own := strings.TrimPrefix(task, j.prefix); strings.HasPrefix(id, own+".") {
		return j.prefix + id
	}
	return task + "." + id
}

// waits gives the ids that a list names. A mere number in a subtask may be one
// of its neighbours, which is settled when all are known.
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

// localMark stands between the id of a task and a number in one of its subtasks
// until it is known whose number it is. No id has it.
const localMark = "\x00"

// localise settles the numbers in subtasks: that of a neighbour, else that of a task.
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

// tagOf gives what the ids of a tag begin with.
func tagOf(task string) string { return task[:strings.LastIndexByte(task, ':')+1] }

// describeTask reads a task once more.
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
