// Package table reads tables of tasks, which have a column of ids and one of statuses. It decides about no task.
package table

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// Kind is the content of a column.
type Kind uint8

// The contents of columns.
const (
	Other Kind = iota
	ID
	Title
	Status
	Depends
	Parallel
	Files
	Aside // known not to be a title
)

// Column is one column of a table of tasks.
type Column struct {
	Kind Kind
	Name string
}

// columnWords are the known column headers, in lower case. If a table has several headers of one kind, the first one in
// this list counts.
var columnWords = [...]struct {
	kind  Kind
	words []string
}{
	{ID, []string{
		"id", "task id", "wp id", "item id", "story id", "wp", "key", "task #", "task no", "no", "nr", "number", "#", "编号", "序号", "番号", "nummer", "código", "번호", "№", "タスクid", "任务id", "任务编号", "ticket",
	}},
	{Title, []string{
		"title", "task", "name", "description", "summary", "subject", "what", "work", "work package", "subtask", "deliverable", "story", "feature", "item",
		"任务", "任务名", "任务名称", "タスク", "タスク名", "作業", "aufgabe", "titel", "beschreibung", "tarea", "título", "descripción", "tarefa", "tâche", "titre", "작업", "задача", "attività", "compito", "descrizione",
	}},
	{Status, []string{"status", "state", "progress", "done", "done?", "completed", "complete", "状态", "狀態", "状態", "進捗", "进度", "ステータス", "stand", "estado", "statut", "état", "상태", "статус", "stato", "fatto", "avanzamento"}},
	{Depends, []string{
		"depends on", "depends", "dependencies", "dependency", "deps", "blocked by", "waits for", "requires", "依赖", "依存", "前置任务", "abhängig von", "depende de", "dépend de", "dependencias", "의존",
	}},
	{Parallel, []string{"parallel", "parallel?", "[p]", "p"}},
	{Files, []string{"files", "file", "file(s)", "path", "paths", "文件", "archivos", "archivo", "fichiers", "dateien", "파일"}},
	{Aside, []string{
		"owner", "assignee", "who", "priority", "prio", "phase", "wave", "effort", "estimate", "size", "notes", "note", "comment", "date", "due", "pr",
		"优先级", "负责人", "备注", "担当", "優先度", "備考",
	}},
}

// Table is the header of a table of tasks.
type Table struct {
	Start   int // offset of the header
	Columns []Column
	// Column indices; Title and Depends are -1 for none.
	ID, Status, Title, Depends int
}

// Header parses the header of a table, and reports whether it is a table of tasks.
func Header(s string, names []block.Cell) (Table, bool) {
	t := Table{Columns: make([]Column, len(names)), ID: -1, Status: -1, Title: -1, Depends: -1}
	found, has := map[string]int{}, [Aside + 1]bool{}
	for i := len(names) - 1; i >= 0; i-- {
		t.Columns[i].Name = lex.Unadorned(names[i].Plain(s))
		found[t.header(i)] = i
		has[kindOf(t.header(i))] = true
	}
	for i := range names { // "ID da tarefa" and "Dependencies (ids)" are known by their first words
		header, _, _ := strings.Cut(t.header(i), " (")
		word, _, _ := strings.Cut(header, " ")
		switch kind := kindOf(word); {
		case kindOf(t.header(i)) != Other:
		case kindOf(header) != Other && !has[kindOf(header)]:
			found[header], has[kindOf(header)] = i, true
		case kind != Other && kind < Depends && !has[kind]:
			found[word], has[kind] = i, true
		case graph.Word(header) > 0 && !has[Depends]:
			t.Columns[i].Kind = Depends
		}
	}
	t.name(found)
	t.find()
	_, named := found["ticket"]
	if i := found["ticket"]; named && t.Title < 0 && t.ID != i {
		t.Title, t.Columns[i].Kind = i, Title
	}
	return t, t.ID >= 0 && t.Status >= 0
}

// taskWords are the headers of titles that name tasks, in lower case.
const taskWords = "|task|tasks|work package|subtask|任务|任务名|任务名称|タスク|タスク名|作業|작업|aufgabe|tarea|tarefa|tâche|задача|attività|"

// Lists reports whether a table without a status column lists tasks, because it has a column of ids and one of tasks.
func (t *Table) Lists() bool {
	return t.ID >= 0 && t.Status < 0 && t.Title >= 0 && strings.Contains(taskWords, "|"+strings.ToLower(t.Columns[t.Title].Name)+"|")
}

// header returns the header of a column for a comparison.
func (t *Table) header(i int) string {
	return strings.ToLower(strings.TrimRight(t.Columns[i].Name, ".:"))
}

// kindOf returns the kind of a column with a header, or Other.
func kindOf(header string) Kind {
	for _, group := range columnWords {
		if slices.Contains(group.words, header) {
			return group.kind
		}
	}
	return Other
}

// name sets the kinds of the columns. A column "Task" has the ids if another column has the titles.
func (t *Table) name(found map[string]int) {
	taken := [Aside + 1]bool{}
	titles := []int{}
	for _, group := range columnWords {
		for _, word := range group.words {
			i, ok := found[word]
			switch {
			case !ok:
				continue
			case taken[group.kind]:
				t.Columns[i].Kind = Aside
			default:
				t.Columns[i].Kind, taken[group.kind] = group.kind, true
			}
			if group.kind == Title {
				titles = append(titles, i)
			}
		}
	}
	task, ok := found["task"]
	if !ok || taken[ID] {
		return
	}
	for _, i := range titles {
		if i != task {
			t.Columns[task].Kind, t.Columns[i].Kind = ID, Title
			return
		}
	}
}

// find determines the columns that rows are read from. Without a header for titles, the first unknown column has the
// titles.
func (t *Table) find() {
	for i, c := range t.Columns {
		switch c.Kind {
		case ID:
			t.ID = i
		case Title:
			t.Title = i
		case Status:
			t.Status = i
		case Depends:
			t.Depends = i
		case Other, Parallel, Files, Aside:
		}
	}
	for i := range t.Columns {
		if t.Title < 0 && t.Columns[i].Kind == Other {
			t.Title, t.Columns[i].Kind = i, Title
		}
	}
}

// Guess finds the column of statuses of a table without a header for them: the one in which the rows of a sample have
// statuses. It reports whether there is one.
func (t *Table) Guess(sample []Row) bool {
	if t.ID < 0 || t.Status >= 0 || len(sample) == 0 {
		return false
	}
	for i := range t.Columns {
		known := 0
		for k := range sample {
			if text := strings.Trim(sample[k].Cell(i), "*`_ "); text != "" && !lex.IsNone(text) && lex.StateOf(text).Known {
				known++
			}
		}
		if i != t.ID && i != t.Title && 4*known >= 3*len(sample) {
			t.Status, t.Columns[i].Kind = i, Status
			return true
		}
	}
	return false
}

// Row is a row of a table of tasks.
type Row struct {
	Table *Table
	Text  string // the line
	Cells []block.Cell
}

// Row splits a line into the cells of a row. Empty cells at its end do not count.
func (t *Table) Row(text string, body int, room []block.Cell) Row {
	row := Row{t, text, block.Cells(text, body, room)}
	for len(row.Cells) > len(t.Columns) && row.Cells[len(row.Cells)-1].Empty() {
		row.Cells = row.Cells[:len(row.Cells)-1]
	}
	return row
}

// Wide reports whether a row has more cells than its header.
func (r *Row) Wide() bool { return len(r.Cells) > len(r.Table.Columns) }

// Cell returns the plain text of a cell, or "" if the row has no such cell.
func (r *Row) Cell(i int) string {
	if i < 0 || i >= len(r.Cells) {
		return ""
	}
	return r.Cells[i].Plain(r.Text)
}

// ID returns the id of a row, or "". An id is one word with a digit in it, so that the totals row of a table has none.
func (r *Row) ID() string {
	id := lex.Unadorned(r.Cell(r.Table.ID))
	if rest, ok := strings.CutPrefix(id, "Task "); ok {
		id = lex.Trim(rest)
	}
	id = strings.TrimRight(id, ".:")
	if len(id) > lex.LongestID || !strings.ContainsAny(id, "0123456789") {
		return ""
	}
	for _, c := range id {
		if c < utf8.RuneSelf && lex.InWord(byte(c)) {
			continue
		}
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && (c >= utf8.RuneSelf || strings.IndexByte("._-/#", byte(c)) < 0) {
			return ""
		}
	}
	return id
}

// State parses the status cell of a row. From is -1 if the row has no such cell.
func (r *Row) State() lex.State {
	if r.Table.Status < 0 || r.Table.Status >= len(r.Cells) {
		return lex.State{Status: plan.Pending, From: -1, Known: true}
	}
	c := r.Cells[r.Table.Status]
	// Emphasis such as bold stays when a status is written.
	inside := strings.Trim(r.Text[c.From:c.To], "*`_ ")
	if inside != "" && len(inside) < c.To-c.From {
		c.From += strings.Index(r.Text[c.From:c.To], inside)
		c.To = c.From + len(inside)
	}
	st := lex.StateOf(inside)
	st.From, st.To = c.From+st.From, c.From+st.To
	if inside == "" {
		st.To = c.To // a cell of marks such as * is replaced as a whole
	}
	return st
}

// Withdrawn reports whether the id or the title of a row is struck through.
func (r *Row) Withdrawn() bool {
	return lex.Withdrawn(r.Cell(r.Table.ID)) || lex.Withdrawn(r.Cell(r.Table.Title))
}

var separators = strings.NewReplacer(";", ",", "<br>", ",", "<br/>", ",", "<br />", ",")

// CommaList converts the list separators used in cells to commas.
func CommaList(s string) string { return separators.Replace(s) }

// Yes reports whether a cell means yes.
func Yes(s string) bool {
	switch strings.ToLower(lex.Unadorned(s)) {
	case "yes", "true", "y", "x", "p", "[p]", "[x]", "✓", "✔", "✅":
		return true
	}
	return false
}
