package ledger

import "strings"

// This file sees what points to a dialect in lines that a numbered plan has
// few of, so that such a plan is not slowed down by the other dialects.

// namelessSignals looks at a checkbox without number.
func (n *numbered) namelessSignals(ln *line, b *box) {
	if n.g.label != nil || n.item != nil {
		return
	}
	s := strings.TrimPrefix(b.rest(ln.text), struck)
	if n.countable {
		n.uncounted++
	}
	if ln.text[ln.body] == '#' {
		n.headSignals(ln, markerAt(ln.text, ln.body).after-ln.body, s)
	} else if n.tasked > 0 {
		n.untold++
		if strings.HasPrefix(strings.TrimPrefix(s, bold), "Step ") {
			n.seen.see(signalStep, ln.number)
		}
	}
	n.wordSignals(ln, s)
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

// itemSignals looks at an item with a number.
func (n *numbered) itemSignals(ln *line, id, title string) {
	if last := len(title) - 1; last > 1 && (title[0] == '(' || title[last] == ')') {
		if _, parallel := cutParallel(title); parallel {
			n.seen.see(signalParallel, ln.number)
		}
		if _, criteria := cutCriteria(title); criteria != nil {
			n.seen.see(signalCriteria, ln.number)
		}
	}
	if n.tags.withdrawn {
		n.seen.see(signalStruck, ln.number)
	}
	if zeroth(id) {
		n.seen.see(signalZero, ln.number)
	}
	if n.tasked > 0 && !n.adopted && id == "1" {
		n.seen.see(signalAnew, ln.number)
	}
	if n.group != "" && strings.HasPrefix(id, n.group) && len(id) > len(n.group) && id[len(n.group)] == '.' {
		if n.tasked > 0 {
			n.seen.see(signalNumbered, ln.number)
		} else {
			n.seen.see(signalGroup, ln.number)
		}
	}
}
