package record

import (
	"fmt"
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/describe"
	"waybill/plan/lex"
)

// This file reads the plans of GSD: front matter with a wave, and <task> elements in Markdown. The elements are not
// valid XML, because authors write "a < b && c", lists and code between the tags. A task is therefore found by its
// first and last line, outside fences and comments. An element in a task begins with the first tag of its name, and
// ends with the first closing tag.
//
// A file that names its plan also makes the plan an item, which other plans can wait for and which is the parent of
// its tasks. GSD plans do not record progress.

const (
	taskOpens  = "<task"
	taskCloses = "</task>"
)

// opensTask reports whether a line begins a task.
func opensTask(content string) bool {
	rest, ok := strings.CutPrefix(content, taskOpens)
	return ok && (rest == "" || strings.IndexByte(" >\t\r\n", rest[0]) >= 0)
}

// hasTask reports whether a file is a GSD plan. boxed means that the plan has checkboxes.
func (f *file) hasTask(text string, boxed bool) bool {
	if !strings.Contains(text[f.From:f.To], taskOpens) {
		return false
	}
	known := f.front.has("wave", "depends_on", "files_modified", "autonomous", "phase", "plan") || formOfName(f.Name) == formGSD
	return (known || !boxed) && len(tasksIn(text, f.From, f.To)) > 0
}

// tasksIn returns the spans of the tasks in a file.
func tasksIn(text string, from, to int) (tasks []plan.Span) {
	s := block.FileScanner(text, from, to, nil)
	open := false
	end := func(at int) {
		if open {
			tasks[len(tasks)-1].End, open = at, false
		}
	}
	for s.Scan() {
		if s.Place != plan.InText {
			continue
		}
		if opensTask(s.Content()) {
			end(s.Start)
			tasks, open = append(tasks, plan.Span{Start: s.Start + s.Body}), true
		}
		if at := strings.Index(s.Text, taskCloses); at >= 0 {
			end(s.Start + at + len(taskCloses))
		}
	}
	end(to)
	return tasks
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// cutElement removes the first element of a name from a text. An element without a closing tag ends with its line.
func cutElement(text, name string) (inside, rest string, ok bool) {
	before, after, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return "", text, false
	}
	if inside, behind, closed := strings.Cut(after, "</"+name+">"); closed {
		return strings.TrimSpace(lineFeeds.Replace(inside)), before + behind, true
	}
	line, _ := cutLine(after, 0)
	return lex.Trim(line), before + after[len(line):], true
}

// gsdPlan identifies the plan in a file.
type gsdPlan struct {
	id, phase string // id is "" if the file does not say which plan it is
	named     string // the id in the file name, "" for none
}

func planOf(f *front, name string) (p gsdPlan) {
	p.named = planNumber(baseName(name))
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

// gsdReader reads the plans of GSD.
type gsdReader struct {
	*records
	phases map[int32]string // of the items with dependencies on plans
}

var gsd = tool{dialect: "gsd", item: "task of a plan of a phase", read: readGSD, describe: describeGSD}

func readGSD(records *records) {
	x := gsdReader{records, map[int32]string{}}
	x.each(formGSD, x.readPlan)
	for i, phase := range x.phases {
		for at, id := range x.waits[i] {
			x.waits[i][at] = x.planID(phase, id)
		}
	}
	for i := range x.boxes {
		x.companion(&x.boxes[i])
	}
}

// planID completes the id of a plan. A short id belongs to the same phase.
func (x *gsdReader) planID(phase, id string) string {
	id = strings.TrimSuffix(strings.TrimSuffix(id, ".md"), "-PLAN")
	if phase != "" && !strings.Contains(id, "-") && x.rows.Find(id) < 0 {
		return phase + "-" + id
	}
	return id
}

// readPlan reads a plan and its tasks.
func (x *gsdReader) readPlan(k int) {
	f := &x.files[k]
	p := planOf(&f.front, f.Name)
	if f.front.fault != "" {
		x.notes.Add(f.front.faultAt, plan.SeverityError, "file_unreadable", f.front.fault+": the dependencies of its tasks are unknown")
	}
	var below int32
	if p.id != "" {
		i := x.add(task{id: p.id, from: f.From, to: f.To, named: f.From, status: plan.Pending, waits: f.front.words("depends_on")})
		x.phases[i], below = p.phase, i+1
		if p.named != "" && p.named != p.id {
			x.notes.Add(f.From, plan.SeverityWarning, "file_name_conflict",
				fmt.Sprintf("the file name says plan %s and the front matter says %s: the front matter counts", p.named, lex.Clip(p.id)))
		}
	}
	for _, span := range tasksIn(x.text, f.From, f.To) {
		text := x.text[span.Start:span.End]
		if !strings.HasSuffix(text, taskCloses) {
			x.notes.Add(span.Start, plan.SeverityWarning, "unclosed_task", "this task is never closed, so it ends where the next one begins")
		}
		t := task{
			prefix: strings.TrimPrefix(p.id+"/"+lex.Slug(attribute(text, "type")), "/"),
			from:   span.Start, to: span.End, named: span.Start, status: plan.Pending, below: below,
		}
		if number, _ := taskName(text); number != "" {
			t.id = strings.TrimPrefix(p.id+"/"+number, "/")
		}
		if p.id == "" {
			t.waits = f.front.words("depends_on")
		}
		if i := x.add(t); p.id == "" {
			x.phases[i] = p.phase
		}
	}
	x.checkFront(k)
}

// taskName parses "<name>Task 1: Pigeon register</name>".
func taskName(text string) (number, title string) {
	name, _, _ := cutElement(text, "name")
	title = lex.SingleSpaced(name)
	rest, ok := strings.CutPrefix(title, "Task ")
	id, end, _ := lex.ReadID(rest)
	if !ok || id == "" {
		return "", title
	}
	return id, lex.Trim(strings.TrimLeft(rest[end:], ":.- "))
}

// companion reads a line of a list of plans, which contains the status of one plan.
func (x *gsdReader) companion(b *box) {
	f := &x.files[b.file]
	if b.place != plan.InText || f.form == formGSD {
		return
	}
	at := x.rows.Find(planNumber(strings.TrimLeft(b.title, "*`[ ")))
	if at < 0 {
		return
	}
	f.taken, b.listed = true, true
	id := x.rows.Entries[at].ID
	status, known := map[string]plan.Status{
		" ": plan.Pending, "": plan.Pending, "x": plan.Completed, "X": plan.Completed, "~": plan.Skipped,
	}[b.mark]
	if !known {
		x.refuse(b, plan.SeverityWarning, "unknown_mark", fmt.Sprintf("the mark %q has no meaning here, so it does not change plan %s", b.mark, id))
		return
	}
	x.refuse(b, plan.SeverityInfo, "not_a_task_section", fmt.Sprintf("this line lists plan %s and says that it is %s", id, status))
	for i := range x.rows.Entries {
		if e := &x.rows.Entries[i]; int32(i) == at || e.Parent == at {
			e.Status = status
		}
	}
}

func describeGSD(text string, e *plan.Entry, it *plan.Item) {
	if !opensTask(text[e.From:e.To]) {
		describePlan(text, e, it)
		return
	}
	text = text[e.From:e.To]
	_, it.Title = taskName(text)
	_, more, _ := strings.Cut(strings.TrimSuffix(text, taskCloses), ">")
	_, more, _ = cutElement(more, "name")
	files, more, _ := cutElement(more, "files")
	for name := range strings.FieldsFuncSeq(files, func(r rune) bool { return r == ',' || r == '\n' }) {
		if name = lex.Trim(name); name != "" {
			it.Files = append(it.Files, name)
		}
	}
	kind := attribute(text, "type")
	if strings.HasPrefix(kind, "checkpoint") {
		it.Details = append(it.Details, "A person is needed: "+kind)
	}
	for _, d := range [...]struct{ name, label string }{
		{"action", "Action: "},
		{"what-built", "What was built: "},
		{"how-to-verify", "How to verify: "},
		{"decision", "Decision: "},
		{"verify", "Verify: "},
		{"done", "Done: "},
		{"resume-signal", "Resume signal: "},
	} {
		var inside string
		if inside, more, _ = cutElement(more, d.name); inside == "" {
			continue
		}
		if it.Title == "" && (d.name == "decision" || d.name == "what-built") {
			it.Title = lex.Clip(lex.SingleSpaced(inside))
		}
		it.Details = append(it.Details, d.label+inside)
	}
	describe.Prose(it, more)
	if it.Title == "" {
		it.Title = kind
	}
}

// describePlan adds the text of a plan outside its tasks.
func describePlan(text string, e *plan.Entry, it *plan.Item) {
	f := frontOfItem(text, e)
	var own strings.Builder
	from := f.body
	for _, task := range append(tasksIn(text, f.body, int(e.To)), plan.Span{Start: int(e.To)}) {
		own.WriteString(text[from:task.Start])
		from = task.End
	}
	objective, _, _ := cutElement(text[f.body:e.To], "objective")
	it.Title, _, _ = strings.Cut(objective, "\n")
	it.Title = lex.Clip(lex.Trim(it.Title))
	it.Files, it.Requirements = f.words("files_modified"), f.words("requirements")
	if wave := f.word("wave"); wave != "" {
		it.Details = append(it.Details, "Wave: "+wave)
	}
	if f.word("autonomous") == "false" {
		it.Details = append(it.Details, "Not autonomous: a person is needed")
	}
	if objective != "" {
		it.Details = append(it.Details, "Objective: "+objective)
	}
	_, more, _ := cutElement(own.String(), "objective")
	describe.Prose(it, strings.NewReplacer("<tasks>", "", "</tasks>", "").Replace(more))
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
