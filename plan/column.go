package plan

import "strings"

// This file determines the contents of the columns of a table.

type columnKind uint8

const (
	columnOther columnKind = iota
	columnID
	columnTitle
	columnStatus
	columnDepends
	columnParallel
	columnFiles
	columnAside // known not to be a title
)

// column is one column of a table of tasks.
type column struct {
	kind columnKind
	name string
}

// columnWords are the known column headers. If a table has several headers of one kind, the first one in this list
// counts.
var columnWords = [...]struct {
	word string
	kind columnKind
}{
	{"id", columnID},
	{"task id", columnID},
	{"wp id", columnID},
	{"item id", columnID},
	{"story id", columnID},
	{"wp", columnID},
	{"key", columnID},
	{"ticket", columnID},
	{"task #", columnID},
	{"task no", columnID},
	{"no", columnID},
	{"nr", columnID},
	{"number", columnID},
	{"#", columnID},
	{"title", columnTitle},
	{"task", columnTitle},
	{"name", columnTitle},
	{"description", columnTitle},
	{"summary", columnTitle},
	{"subject", columnTitle},
	{"what", columnTitle},
	{"work", columnTitle},
	{"work package", columnTitle},
	{"subtask", columnTitle},
	{"deliverable", columnTitle},
	{"story", columnTitle},
	{"feature", columnTitle},
	{"item", columnTitle},
	{"status", columnStatus},
	{"state", columnStatus},
	{"progress", columnStatus},
	{"done", columnStatus},
	{"done?", columnStatus},
	{"completed", columnStatus},
	{"complete", columnStatus},
	{"depends on", columnDepends},
	{"depends", columnDepends},
	{"dependencies", columnDepends},
	{"dependency", columnDepends},
	{"deps", columnDepends},
	{"blocked by", columnDepends},
	{"waits for", columnDepends},
	{"requires", columnDepends},
	{"parallel", columnParallel},
	{"parallel?", columnParallel},
	{"[p]", columnParallel},
	{"p", columnParallel},
	{"files", columnFiles},
	{"file", columnFiles},
	{"file(s)", columnFiles},
	{"path", columnFiles},
	{"paths", columnFiles},
	{"owner", columnAside},
	{"assignee", columnAside},
	{"who", columnAside},
	{"priority", columnAside},
	{"prio", columnAside},
	{"phase", columnAside},
	{"wave", columnAside},
	{"effort", columnAside},
	{"estimate", columnAside},
	{"size", columnAside},
	{"notes", columnAside},
	{"note", columnAside},
	{"comment", columnAside},
	{"date", columnAside},
	{"due", columnAside},
	{"pr", columnAside},
}

// readHeader parses the header of a table, and reports whether it is a table of tasks.
func readHeader(s string, names []cell) (table, bool) {
	t := table{columns: make([]column, len(names)), id: -1, status: -1, title: -1, depends: -1}
	found := map[string]int{}
	for i := len(names) - 1; i >= 0; i-- {
		t.columns[i].name = unadorned(names[i].plain(s))
		found[strings.ToLower(strings.TrimRight(t.columns[i].name, ".:"))] = i
	}
	taken := [columnAside + 1]bool{}
	for _, w := range columnWords {
		i, ok := found[w.word]
		switch {
		case !ok:
		case taken[w.kind]:
			t.columns[i].kind = columnAside
		default:
			t.columns[i].kind, taken[w.kind] = w.kind, true
		}
	}
	if task, ok := found["task"]; ok && !taken[columnID] {
		t.number(task, found)
	}
	t.find()
	return t, t.id >= 0 && t.status >= 0
}

// number treats a column "Task" as ids if another column has the titles.
func (t *table) number(task int, found map[string]int) {
	for _, w := range columnWords {
		if i, ok := found[w.word]; ok && w.kind == columnTitle && i != task {
			t.columns[task].kind, t.columns[i].kind = columnID, columnTitle
			return
		}
	}
}

// find determines the columns that rows are read from. Without a header for titles, the first unknown column has the
// titles.
func (t *table) find() {
	for i, c := range t.columns {
		switch c.kind {
		case columnID:
			t.id = i
		case columnTitle:
			t.title = i
		case columnStatus:
			t.status = i
		case columnDepends:
			t.depends = i
		case columnOther, columnParallel, columnFiles, columnAside:
		}
	}
	for i := range t.columns {
		if t.title < 0 && t.columns[i].kind == columnOther {
			t.title, t.columns[i].kind = i, columnTitle
		}
	}
}
