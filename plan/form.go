package plan

import "strings"

// This file describes the form of an item, to explain why a plan was read in its dialect.

// form describes the form of an item in a plan of lines.
func (n *numbered) form(e *entry) string {
	boxed := e.markEnd > 0 && !e.worded
	text := n.lineAt(int(e.mark))
	switch {
	case n.g == &tableGrammar:
		return signalTable[signalRow].text
	case !boxed && n.g.headed:
		return n.headForm(e)
	case !boxed:
		return "line that begins with a sign such as ✅"
	case e.from < e.mark && strings.ContainsAny(n.src[e.from:e.mark], "\r\n"):
		return "box below " + aHeading(signalTaskHeading)
	case n.g == &conductorGrammar:
		return wordForm(text)
	case e.derivedID:
		return "box without id"
	}
	return idForm(e.id, text)
}

func aHeading(s signal) string { return "a " + signalTable[s].text }

// headForm describes the form of a heading that is an item.
func (n *numbered) headForm(e *entry) string {
	switch {
	case n.g == &kiroHeadGrammar:
		return "heading such as 1.1"
	case n.evidence.first[signalTaskGroup] == int(e.line):
		return signalTable[signalTaskGroup].text
	}
	return signalTable[signalTaskHeading].text
}

// wordForm describes the text after a checkbox of Conductor.
func wordForm(text string) string {
	switch word, _ := conductorWord(text); word {
	case wordTask:
		return signalTable[signalTaskWord].text
	case wordTrack:
		return signalTable[signalTrack].text
	}
	return "box without id"
}

// idForm describes the form of the id after a checkbox.
func idForm(id, text string) string {
	_, _, file := epicID(unbolded(text))
	number, _ := taskNumber(text)
	switch {
	case isTaskID(id):
		return "box with an id such as T001"
	case file:
		return "box with a file such as 001.md"
	case number != "":
		return "box with a number such as Task 1"
	case isID(id):
		return "box with a number"
	}
	return "box with an id"
}

// lineAt returns the rest of a line after a checkbox whose mark begins at the offset.
func (n *numbered) lineAt(mark int) string {
	text := n.src[mark:]
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	_, text, _ = strings.Cut(text, "]")
	return trim(strings.TrimLeft(text, "*"))
}

// recordForm describes the form of an item in a dialect without checkboxes.
func recordForm(dialect string) string {
	switch dialect {
	case taskMaster:
		return "task with an id and a status"
	case gsd:
		return "task of a plan of a phase"
	}
	return "file that is a task"
}
