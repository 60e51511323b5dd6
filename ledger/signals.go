package ledger

import "strings"

// This file sees what points to a dialect in lines that a numbered plan has
// few of, so that such a plan is not slowed down by the other dialects.

// namelessSignals looks at a checkbox without number.
func (n *numbered) namelessSignals(ln *line, b *box) {
	if n.g.label != nil || n.item != nil {
		return
	}
	s := b.rest(ln.text)
	if rest := n.cutTags(s); rest != s {
		n.seen.see(signalTag, ln.number)
		s = rest
	}
	if id, end := readTaskID(strings.TrimPrefix(s, bold)); len(id) >= len("T001") {
		n.seen.see(signalTask, ln.number)
		if rest := trim(s[end:]); strings.HasPrefix(rest, "[P]") || strings.HasPrefix(rest, "[US") {
			n.seen.see(signalTag, ln.number)
		}
	}
}
