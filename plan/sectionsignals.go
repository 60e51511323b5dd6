package plan

import "strings"

// This file finds evidence of the dialects that use words and sections instead of numbers.

// wordSignals collects evidence from the text after a checkbox without number.
func (n *numbered) wordSignals(ln *line, s string) {
	switch word, _ := conductorWord(s); word {
	case wordTask:
		n.evidence.add(signalTaskWord, ln.number)
	case wordTrack:
		n.evidence.add(signalTrack, ln.number)
	default:
		n.numberSignals(ln, s)
	}
	if _, criteria := cutCriteria(s); criteria != nil {
		n.evidence.add(signalCriteria, ln.number)
	}
}

// numberSignals collects evidence from ids with a word or a sign before them.
func (n *numbered) numberSignals(ln *line, s string) {
	if id, _ := taskNumber(s); id != "" {
		n.evidence.add(signalTaskNumber, ln.number)
		return
	}
	id, rest, file := epicID(unbolded(s))
	if id == "" {
		return
	}
	if file {
		n.evidence.add(signalEpic, ln.number)
	}
	if strings.Contains(rest, "(parallel:") {
		n.evidence.add(signalFlag, ln.number)
	}
}

// titleSignals collects evidence from a heading.
func (n *numbered) titleSignals(ln *line, text string) {
	if n.item != nil {
		return
	}
	if isSubtasks(text) {
		n.evidence.add(signalSubtasks, ln.number)
	}
	if _, checkpoint := cutCheckpoint(text); checkpoint != "" {
		n.evidence.add(signalCheckpoint, ln.number)
	}
}
