package plan

import (
	"fmt"
	"strings"
)

// This file reads the lines below a heading that is a task: steps, dependencies, files, and criteria. Criteria are not
// items.

// headLabel parses the text after a checkbox: "**Step 1: Write the failing check**", "1.2 Crop the edge", or only a
// title. A number without a dot is the number of a step.
func headLabel(n *numbered, ln *line, b *box) (id, title string) {
	n.leaveCriteria(ln)
	s := b.rest(ln.text)
	if ln.text[ln.body] == '#' {
		id, title = headBoxed(n, trim(strings.TrimRight(s, "#")))
	} else {
		id, title = n.step(s)
	}
	n.tags.waits = mentioned(title)
	switch {
	case n.item != nil && n.owner < 0:
		return n.item.ID, title // the headings above are not available here
	case n.sections.kind == sectionAcceptance:
		return "", title
	}
	return id, title
}

func headBoxed(n *numbered, text string) (id, title string) {
	h, ok := n.g.head(text)
	if !ok {
		return "", text
	}
	n.tags.withdrawn = h.withdrawn
	return h.id, h.title
}

// step parses the id and the title of a checkbox, below a task or elsewhere.
func (n *numbered) step(s string) (id, title string) {
	text := s
	if inside, ok := strings.CutPrefix(s, bold); ok {
		inside, after, _ := strings.Cut(inside, bold)
		text = inside + after
	}
	rest, isStep := cutWord(text, "Step")
	rest = trim(rest)
	number, end, _ := readID(rest)
	switch {
	case number == "", !isStep && end == len(number) && strings.IndexByte(number, '.') < 0:
		return "", s
	}
	title = strings.TrimLeft(trim(rest[end:]), "-–— ")
	top := n.heads.top()
	switch {
	case top.item < 0 && isStep:
		return "", title
	case top.item < 0, !isStep && strings.IndexByte(number, '.') >= 0:
		return number, title
	case len(top.id)+1+len(number) > longestID:
		return "", title
	}
	return top.id + "." + number, title
}

// headRemark reports an id that does not begin with the number of the heading above.
func headRemark(n *numbered, ln *line, b box) {
	e, top := &n.r.entries[n.owner], n.heads.top()
	if top.item < 0 || e.derivedID || ln.text[ln.body] == '#' || strings.HasPrefix(e.id, top.id+".") {
		return
	}
	n.report(ln, b.open, SeverityWarning, "dialect_drift",
		e.id+" is below task "+top.id+": an id begins with the number of the heading above")
}

// headLine reads a line of text, and reports whether the line does not belong to an item.
func headLine(n *numbered, ln *line, m marker) bool {
	n.leaveCriteria(ln)
	if n.owner >= 0 && ln.indent < n.ownerIndent && ln.margin == 0 {
		n.closeItem() // a line indented less than a checkbox belongs to the task
		n.goBack(ln)
	}
	text, bullet := ln.content(), false
	if m.spaced(ln.text) && m.kind == markerBullet {
		text, bullet = ln.text[m.next:], true
	}
	if n.item == nil && criteriaLabel(text) {
		if n.owner < 0 || ln.indent <= n.ownerIndent {
			n.closeItem()
			n.goBack(ln)
		}
		n.sections = sections{kind: sectionAcceptance, name: strings.Trim(text, "*:_ "), level: deeperThanHeadings, indent: ln.indent}
		if bullet {
			n.sections.indent++
		}
		return true
	}
	if n.item != nil || len(n.heads) == 0 {
		return false
	}
	n.statusLine(ln, text)
	if bullet {
		return false
	}
	n.headEvidence(ln, text)
	if key, value, ok := labelled(text); ok && key == fieldDepends && (n.again > 0 || int32(n.owner) != n.heads.top().item) {
		n.splitDependencies(value)
		n.waitFor(n.heads.top().item, n.lists.take())
		n.alternatives(int(n.heads.top().item))
		return true
	}
	return false
}

// statusLine reads a line such as "**Status**: COMPLETED" in the section of a task, before its first step. Quotations
// and subsections have a status of their own. The status in the heading takes precedence, and of two status
// lines, the open one. The line also stays in the text of the task.
func (n *numbered) statusLine(ln *line, text string) {
	top := n.heads.top()
	value, ok := statusValue(text)
	if !ok || top.item < 0 || top.parted || ln.quoted() || int32(n.owner) != top.item {
		return
	}
	e := &n.r.entries[top.item]
	status, known := choiceOf(value)
	switch {
	case e.follows:
		e.status, e.follows = status, false
		n.heads[len(n.heads)-1].stated = int32(ln.number)
	case known && status != e.status:
		from, counts := e.line, "which counts"
		if top.stated > 0 {
			from, counts = top.stated, "and the open one counts"
		}
		n.report(ln, ln.body, SeverityWarning, "summary_conflict",
			fmt.Sprintf("this line says that %s is %s, but line %d says %s, %s", e.id, status, from, e.status, counts))
		fallthrough
	default:
		if top.stated > 0 && status.open() && !e.status.open() {
			e.status = status
		}
	}
	if !known {
		n.report(ln, ln.body, SeverityWarning, "unknown_mark",
			fmt.Sprintf("the status %q has no meaning here, so the task is %s", clip(value), e.status))
	}
	if e.status == InProgress && n.r.active < 0 {
		n.r.active = top.item
	}
}

// choiceOf parses the value of a status line, and returns Pending if it is unknown. In a line of choices such as
// "PENDING | [x] Complete", the ticked choice counts.
func choiceOf(value string) (status Status, known bool) {
	if !strings.Contains(value, "|") {
		says := stateOf(value)
		return says.status, says.known
	}
	boxes, said := 0, Status(0)
	for choice := range strings.SplitSeq(value, "|") {
		choice = trim(choice)
		box, width, _ := readBox(choice)
		if width > 0 {
			boxes++
		}
		says := stateOf(trim(choice[width:]))
		switch {
		case width == 0:
			if said == 0 && says.known {
				said = says.status
			}
			continue
		case box != Completed:
			continue
		case status != 0 || !says.known:
			return Pending, false
		case choice[width:] == "":
			says.status = Completed
		}
		status = says.status
	}
	switch {
	case status != 0:
		return status, true
	case boxes > 0 && said != 0 && !said.open():
		return Pending, false
	case boxes > 0 && said != 0:
		return said, true
	}
	return Pending, false
}

// statusValue returns the text after a status label: "**Status**: Done", "**Status:** Done" or "Status: Done".
func statusValue(text string) (value string, ok bool) {
	name, value, ok := strings.Cut(text, ":")
	value = trim(strings.TrimPrefix(value, bold))
	return value, ok && value != "" && equalWord(strings.Trim(name, "*_ "), "Status")
}

// headEvidence collects evidence for one of the dialects from a line.
func (n *numbered) headEvidence(ln *line, text string) {
	inside, ok := strings.CutPrefix(text, bold)
	if !ok {
		return
	}
	name, _, _ := strings.Cut(inside, ":")
	switch name = strings.TrimRight(name, "*"); {
	case equalWord(name, "Model"), equalWord(name, "review"), equalWord(name, "Depends on"):
		n.evidence.add(signalReview, ln.number)
	case strings.HasPrefix(name, "Step "):
		n.evidence.add(signalStep, ln.number)
	}
}

// deeperThanHeadings is the level of a section that a line of text began. It is below all headings, so that any
// heading ends it.
const deeperThanHeadings = 7

// criteriaLabel reports whether a line is a label such as "**Acceptance Criteria:**".
func criteriaLabel(text string) bool {
	name, ok := strings.CutSuffix(text, ":")
	if inside, found := strings.CutPrefix(text, bold); found {
		name, _, ok = strings.Cut(inside, bold)
	}
	return ok && sectionOf(name) == sectionAcceptance
}

// leaveCriteria ends the criteria that a label began, at a line with less indent or at another label.
func (n *numbered) leaveCriteria(ln *line) {
	if n.sections.level == deeperThanHeadings && (ln.indent < n.sections.indent || strings.HasPrefix(ln.content(), bold)) {
		n.sections = sections{}
	}
}

// fileVerbs name the change to a file.
var fileVerbs = [...]string{"Create", "Modify", "Test", "Delete", "Update", "Add", "Edit", "Remove", "Rename", "Move", "Verify", "Read", "New"}

// splitHeadFiles pushes the files of a line such as "Modify: `compost/main.go:12-40` (the call), `b.go`". The words
// after a quoted path are a remark, even with commas.
func (n *numbered) splitHeadFiles(list string) {
	for list != "" {
		list = withoutVerbs(list)
		path, after, quoted := cutQuoted(list)
		if !quoted {
			var remark bool
			path, list, _ = cutList(list)
			if path, remark = cutRemark(path); remark {
				list = ""
			}
		}
		if path != "" && !isNone(path) {
			n.lists.push(path)
		}
		if quoted {
			var more bool
			if list, more = cutJoint(after); !more {
				return
			}
		}
	}
}

// withoutVerbs removes "Create: " and "Create/Modify: " from a file name.
func withoutVerbs(s string) string {
	const longest = len("**Create/Modify/Rename/Delete:")
	colon := strings.IndexByte(s[:min(len(s), longest)], ':')
	if colon < 0 {
		return s
	}
	words, rest := s[:colon], s[colon+1:]
	for word := range strings.SplitSeq(strings.Trim(words, "*"), "/") {
		known := false
		for _, verb := range fileVerbs {
			known = known || equalWord(trim(word), verb)
		}
		if !known {
			return s
		}
	}
	return trim(strings.TrimLeft(rest, "*"))
}

// cutQuoted splits a name in backticks from the beginning of s.
func cutQuoted(s string) (name, rest string, ok bool) {
	if s == "" || s[0] != '`' {
		return "", s, false
	}
	name, rest, ok = strings.Cut(s[1:], "`")
	return name, rest, ok
}

// cutJoint removes the separator between two names, and reports whether another name follows.
func cutJoint(s string) (rest string, more bool) {
	s = trim(s)
	if strings.HasPrefix(s, "(") {
		_, after, closed := strings.Cut(s, ")")
		if s = trim(after); !closed {
			return "", false
		}
	}
	for _, joint := range [...]string{",", "and ", "& ", "+ "} {
		if rest, ok := strings.CutPrefix(s, joint); ok {
			rest = trim(rest)
			return rest, strings.HasPrefix(withoutVerbs(rest), "`")
		}
	}
	return "", false
}

// cutRemark removes a remark after a name: after a dash, or in brackets.
func cutRemark(s string) (name string, remark bool) {
	s = withoutRemark(s)
	for _, dash := range [...]string{" — ", " – ", " - "} {
		if before, _, ok := strings.Cut(s, dash); ok {
			return trim(before), true
		}
	}
	return s, false
}

// mostIndented is the largest indent of a heading in columns. A deeper line is code.
const mostIndented = 3

// reference returns the id of a dependency without the words after it: "1: the scanner", "None - the first".
func reference(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if isNone(strings.TrimRight(word, ".,;:")) {
		return ""
	}
	for _, word := range [...]string{"Groups", "Group"} {
		if rest, ok := cutWord(s, word); ok {
			s = trim(rest)
		}
	}
	s = strings.TrimPrefix(s, "#")
	id, end, _ := readID(s)
	if id == "" {
		return s
	}
	if rest := trim(s[end:]); rest == "" || end > len(id) {
		return id
	}
	if _, _, isRange := cutRange(s); isRange {
		return s
	}
	return id
}
