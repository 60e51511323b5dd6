package plan

import "strings"

// This file finds evidence of a dialect in lines that are rare in numbered plans, so that other dialects do not slow
// down the parsing of such plans.

// namelessSignals collects evidence from a checkbox without number.
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
		n.unnumberedInTasks++
		if strings.HasPrefix(strings.TrimPrefix(s, bold), "Step ") {
			n.evidence.add(signalStep, ln.number)
		}
	}
	n.wordSignals(ln, s)
	if rest := n.cutTags(s); rest != s {
		n.evidence.add(signalTag, ln.number)
		s = rest
	}
	if id, end := readTaskID(strings.TrimPrefix(s, bold)); len(id) >= len("T001") {
		n.evidence.add(signalTask, ln.number)
		if rest := trim(s[end:]); strings.HasPrefix(rest, "[P]") || strings.HasPrefix(rest, "[US") {
			n.evidence.add(signalTag, ln.number)
		}
	}
}

// itemSignals collects evidence from an item with a number.
func (n *numbered) itemSignals(ln *line, id, title string) {
	if last := len(title) - 1; last > 1 && (title[0] == '(' || title[last] == ')') {
		if _, parallel := cutParallel(title); parallel {
			n.evidence.add(signalParallel, ln.number)
		}
		if _, criteria := cutCriteria(title); criteria != nil {
			n.evidence.add(signalCriteria, ln.number)
		}
	}
	if n.tags.withdrawn {
		n.evidence.add(signalStruck, ln.number)
	}
	if zeroth(id) {
		n.evidence.add(signalZero, ln.number)
	}
	if n.tasked > 0 && !n.adopted && id == "1" {
		n.evidence.add(signalAnew, ln.number)
	}
	if n.group != "" && strings.HasPrefix(id, n.group) && len(id) > len(n.group) && id[len(n.group)] == '.' {
		if n.tasked > 0 {
			n.evidence.add(signalNumbered, ln.number)
		} else {
			n.evidence.add(signalGroup, ln.number)
		}
	}
}
