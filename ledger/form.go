package ledger

import "strings"

// This file says what an item looks like, for those who ask why a plan was read in its dialect.

// form says what an item of a plan of lines was seen as.
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

// headForm says what a heading that is an item looks like.
func (n *numbered) headForm(e *entry) string {
	switch {
	case n.g == &kiroHeadGrammar:
		return "heading such as 1.1"
	case n.seen.first[signalTaskGroup] == int(e.line):
		return signalTable[signalTaskGroup].text
	}
	return signalTable[signalTaskHeading].text
}

// wordForm says what stands behind a box of Conductor.
func wordForm(text string) string {
	switch word, _ := conductorWord(text); word {
	case wordTask:
		return signalTable[signalTaskWord].text
	case wordTrack:
		return signalTable[signalTrack].text
	}
	return "box without id"
}

// idForm says what the id behind a box looks like.
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

// lineAt gives the rest of a line behind the bracket that closes a box, whose mark begins at the offset.
func (n *numbered) lineAt(mark int) string {
	text := n.src[mark:]
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	_, text, _ = strings.Cut(text, "]")
	return trim(strings.TrimLeft(text, "*"))
}

// recordForm says what an item of a dialect looks like that has no boxes.
func recordForm(dialect string) string {
	switch dialect {
	case taskMaster:
		return "task with an id and a status"
	case gsd:
		return "task of a plan of a phase"
	}
	return "file that is a task"
}
