package ledger

import "strings"

// This file sees what points to the dialects that have words and sections
// where the numbered plans have numbers.

// wordSignals looks at what stands behind a box without number.
func (n *numbered) wordSignals(ln *line, s string) {
	switch word, _ := conductorWord(s); word {
	case wordTask:
		n.seen.see(signalTaskWord, ln.number)
	case wordTrack:
		n.seen.see(signalTrack, ln.number)
	default:
		n.numberSignals(ln, s)
	}
	if _, criteria := cutCriteria(s); criteria != nil {
		n.seen.see(signalCriteria, ln.number)
	}
}

// numberSignals looks at ids with a word or a sign before them.
func (n *numbered) numberSignals(ln *line, s string) {
	if id, _ := taskNumber(s); id != "" {
		n.seen.see(signalTaskNumber, ln.number)
		return
	}
	id, rest, file := epicID(unbolded(s))
	if id == "" {
		return
	}
	if file {
		n.seen.see(signalEpic, ln.number)
	}
	if strings.Contains(rest, "(parallel:") {
		n.seen.see(signalFlag, ln.number)
	}
}

// titleSignals looks at a heading.
func (n *numbered) titleSignals(ln *line, text string) {
	if n.item != nil {
		return
	}
	if isSubtasks(text) {
		n.seen.see(signalSubtasks, ln.number)
	}
	if _, checkpoint := cutCheckpoint(text); checkpoint != "" {
		n.seen.see(signalCheckpoint, ln.number)
	}
}
