package plan

import (
	"fmt"
	"strings"
)

// This file reads the plans of GSD: front matter with a wave, and <task> elements in Markdown. The elements are not
// valid XML, because authors write "a < b && c", lists and code between the tags. A task is therefore found by its
// first and last line, outside fences and comments. An element in a task begins with the first tag of its name, and
// ends with the first closing tag.
//
// A file that names its plan also makes the plan an item, which other plans can wait for and which is the parent of
// its tasks. GSD plans do not record progress.

var gsdGrammar = grammar{
	dialects: []string{gsd},
	records:  readGSD,
	describe: describeGSD,
	missing:  `no element <task> at the beginning of a line`,
}

// opensTask reports whether a line begins a task or the list of tasks.
func opensTask(content string) bool {
	rest, ok := strings.CutPrefix(content, "<task")
	return ok && (rest == "" || strings.IndexByte(" >\t\r\n", rest[0]) >= 0)
}

// hasTaskElement reports whether a file is a GSD plan.
func (x *records) hasTaskElement(f *recordFile) bool {
	if !strings.Contains(x.src[f.from:f.to], "<task") {
		return false
	}
	known := f.front.has("wave", "depends_on", "files_modified", "autonomous", "phase", "plan") || formOfName(f.name) == formGSD
	return (known || len(x.boxes) == 0) && len(tasksIn(x.src, f.from, f.to)) > 0
}

// tasksIn returns the spans of the tasks in a file.
func tasksIn(text string, from, to int) (tasks []Span) {
	s := newScanner(text[from:to])
	open := false
	end := func(at int) {
		if open {
			tasks[len(tasks)-1].End, open = at, false
		}
	}
	for s.scan() {
		if s.place != placeText {
			continue
		}
		if opensTask(s.content()) {
			end(from + s.start)
			tasks, open = append(tasks, Span{Start: from + s.start + s.body}), true
		}
		if at := strings.Index(s.text, "</task>"); at >= 0 {
			end(from + s.start + at + len("</task>"))
		}
	}
	end(to)
	return tasks
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// element returns the text between the first opening tag of a name and its closing tag. Without a closing tag, it
// returns the text up to the end of the line.
func element(text, name string) (inside string, ok bool) {
	_, inside, ok = strings.Cut(text, "<"+name+">")
	if !ok {
		return "", false
	}
	if before, _, closed := strings.Cut(inside, "</"+name+">"); closed {
		return strings.TrimSpace(lineFeeds.Replace(before)), true
	}
	inside, _, _ = strings.Cut(lineFeeds.Replace(inside), "\n")
	return trim(inside), true
}

// cutElement removes the first element of a name from a text.
func cutElement(text, name string) (inside, rest string) {
	inside, ok := element(text, name)
	if !ok {
		return "", text
	}
	before, after, _ := strings.Cut(text, "<"+name+">")
	if _, behind, closed := strings.Cut(after, "</"+name+">"); closed {
		return inside, before + behind
	}
	end := strings.IndexAny(after, "\r\n")
	if end < 0 {
		end = len(after)
	}
	return inside, before + after[end:]
}

// gsdPlan identifies the plan in a file.
type gsdPlan struct {
	id, phase string // id is "" if the file does not say which plan it is
	named     string // the id in the file name, "" for none
	waits     []string
}

// planOf identifies the plan in a file.
func planOf(f *front, name string) (p gsdPlan) {
	p.named = planNumber(name[strings.LastIndexByte(name, '/')+1:])
	phase, plan := f.word("phase"), f.word("plan")
	if at := strings.IndexByte(phase, '-'); at > 0 {
		phase = phase[:at]
	}
	switch {
	case strings.Contains(plan, "-"):
		p.id = plan
	case phase != "" && plan != "":
		p.id = phase + "-" + plan
	default:
		p.id = p.named
	}
	if p.phase, _, _ = strings.Cut(p.id, "-"); p.phase == "" {
		p.phase = phase
	}
	p.waits = f.words("depends_on")
	return p
}

// planNumber returns the number at the beginning of a name, such as "01-02" or "99.9-02", or "".
func planNumber(name string) string {
	at := strings.TrimLeft(name, "0123456789.")
	rest, ok := strings.CutPrefix(at, "-")
	number := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if !ok || number == 0 || len(at) == len(name) {
		return ""
	}
	return name[:len(name)-len(rest)+number]
}

func readGSD(x *records) {
	plans := map[int32]string{} // the phase of each item with dependencies
	x.each(formGSD, func(k int) { x.readPlan(k, plans) })
	for i, phase := range plans {
		for at, id := range x.waiting[i] {
			x.waiting[i][at] = x.planID(phase, id)
		}
	}
	for i := range x.boxes {
		x.companion(&x.boxes[i])
	}
}

// planID completes the id of a plan. A short id belongs to the same phase.
func (x *records) planID(phase, id string) string {
	id = strings.TrimSuffix(strings.TrimSuffix(id, ".md"), "-PLAN")
	if whole := phase + "-" + id; phase != "" && !strings.Contains(id, "-") && x.r.find(id) < 0 {
		return whole
	}
	return id
}

// readPlan reads a plan and its tasks.
func (x *records) readPlan(k int, plans map[int32]string) {
	f := &x.files[k]
	p := planOf(&f.front, f.name)
	if f.front.fault != "" {
		x.note(k, f.front.faultAt, SeverityError, "file_unreadable", f.front.fault+": the dependencies of its tasks are unknown")
	}
	var below int32
	if p.id != "" {
		i := x.add(k, record{id: p.id, from: f.from, to: f.to, named: f.from, status: Pending, waits: p.waits})
		plans[i] = p.phase
		below = i + 1
		if p.named != "" && p.named != p.id {
			x.note(k, f.from, SeverityWarning, "file_name_conflict",
				fmt.Sprintf("the file name says plan %s and the front matter says %s: the front matter counts", p.named, clip(p.id)))
		}
	}
	for _, span := range tasksIn(x.src, f.from, f.to) {
		text := x.src[span.Start:span.End]
		if !strings.HasSuffix(text, "</task>") {
			x.note(k, span.Start, SeverityWarning, "unclosed_task", "this task is never closed, so it ends where the next one begins")
		}
		kind := slug(attribute(text, "type"))
		rec := record{prefix: strings.TrimPrefix(p.id+"/"+kind, "/"), from: span.Start, to: span.End, named: span.Start, status: Pending, below: below}
		if number, _ := taskName(text); number != "" {
			rec.id = strings.TrimPrefix(p.id+"/"+number, "/")
		}
		if p.id == "" {
			rec.waits = append(rec.waits, p.waits...)
		}
		if i := x.add(k, rec); p.id == "" {
			plans[i] = p.phase
		}
	}
	x.checkFront(k)
}

// taskName parses "<name>Task 1: Pigeon register</name>".
func taskName(text string) (number, title string) {
	name, _ := element(text, "name")
	title = singleSpaced(name)
	rest, ok := strings.CutPrefix(title, "Task ")
	id, end, _ := readID(rest)
	if !ok || id == "" {
		return "", title
	}
	return id, trim(strings.TrimLeft(rest[end:], ":.- "))
}

// companion reads a line of a list of plans, which contains the status of one plan.
func (x *records) companion(b *foundBox) {
	if f := &x.files[b.file]; b.place != placeText || f.form == formGSD {
		return
	}
	at := x.r.find(planNumber(strings.TrimLeft(b.title, "*`[ ")))
	if at < 0 {
		return
	}
	x.files[b.file].taken, b.listed = true, true
	var status Status
	switch b.mark {
	case " ", "":
		status = Pending
	case "x", "X":
		status = Completed
	case "~":
		status = Skipped
	default:
		x.refuseBox(b, SeverityWarning, "unknown_mark", fmt.Sprintf("the mark %q has no meaning here, so it does not change plan %s", b.mark, x.r.entries[at].id))
		return
	}
	x.refuseBox(b, SeverityInfo, "not_a_task_section",
		fmt.Sprintf("this line lists plan %s and says that it is %s", x.r.entries[at].id, status))
	for i := range x.r.entries {
		if e := &x.r.entries[i]; int32(i) == at || e.parent == at {
			e.status = status
		}
	}
}

// describeGSD fills in the description of a plan or a task from its file.
func describeGSD(r *Reading, e *entry, it *Item) {
	text := r.lines(e)
	if !opensTask(text) {
		describePlan(r, e, it)
		return
	}
	_, it.Title = taskName(text)
	_, more, _ := strings.Cut(strings.TrimSuffix(text, "</task>"), ">")
	_, more = cutElement(more, "name")
	files, more := cutElement(more, "files")
	if files != "" {
		for name := range strings.FieldsFuncSeq(files, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
			if name = trim(name); name != "" {
				it.Files = append(it.Files, name)
			}
		}
	}
	kind := attribute(text, "type")
	if strings.HasPrefix(kind, "checkpoint") {
		it.Details = append(it.Details, "A person is needed: "+kind)
	}
	for _, d := range [...]struct{ name, label string }{
		{"action", "Action"},
		{"what-built", "What was built"},
		{"how-to-verify", "How to verify"},
		{"decision", "Decision"},
		{"verify", "Verify"},
		{"done", "Done"},
		{"resume-signal", "Resume signal"},
	} {
		var inside string
		if inside, more = cutElement(more, d.name); inside != "" {
			it.Details = append(it.Details, d.label+": "+inside)
		}
	}
	prose(it, more)
	for _, name := range [...]string{"decision", "what-built"} {
		if it.Title == "" {
			it.Title, _ = element(text, name)
			it.Title = clip(singleSpaced(it.Title))
		}
	}
	if it.Title == "" {
		it.Title = kind
	}
}

// describePlan adds the text of a plan outside its tasks.
func describePlan(r *Reading, e *entry, it *Item) {
	f, _ := readFront(r.text, int(e.from), int(e.to))
	objective, _ := element(r.text[f.body:e.to], "objective")
	it.Title, _, _ = strings.Cut(objective, "\n")
	it.Title = clip(trim(it.Title))
	it.Files = f.words("files_modified")
	it.Requirements = f.words("requirements")
	if wave := f.word("wave"); wave != "" {
		it.Details = append(it.Details, "Wave: "+wave)
	}
	if f.word("autonomous") == "false" {
		it.Details = append(it.Details, "Not autonomous: a person is needed")
	}
	var own strings.Builder
	from := f.body
	for _, task := range append(tasksIn(r.text, f.body, int(e.to)), Span{Start: int(e.to)}) {
		own.WriteString(r.text[from:task.Start])
		from = task.End
	}
	_, more := cutElement(own.String(), "objective")
	if objective != "" {
		it.Details = append(it.Details, "Objective: "+objective)
	}
	prose(it, strings.NewReplacer("<tasks>", "", "</tasks>", "").Replace(more))
}

// attribute returns the value of an attribute of the tag at the beginning of a text.
func attribute(text, name string) string {
	tag, _, _ := strings.Cut(text, ">")
	_, value, ok := strings.Cut(tag, " "+name+`="`)
	value, _, closed := strings.Cut(value, `"`)
	if !ok || !closed {
		return ""
	}
	return value
}
