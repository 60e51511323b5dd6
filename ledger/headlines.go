package ledger

import "strings"

// This file reads what stands below a heading that is a task: its steps, what it waits for, its files, and
// the criteria, which are no tasks.

// headLabel reads what stands behind a box: "**Step 1: Write the failing check**", "1.2 Crop the edge", or a
// title alone. A number without dot is that of a step.
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
		return n.item.ID, title // the headings above are not at hand
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

// step reads the id and the title of a box below a task, or elsewhere.
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

// headRemark reports an id that begins with another number than the heading above.
func headRemark(n *numbered, ln *line, b box) {
	e, top := &n.r.entries[n.owner], n.heads.top()
	if top.item < 0 || e.derivedID || ln.text[ln.body] == '#' || strings.HasPrefix(e.id, top.id+".") {
		return
	}
	n.report(ln, b.open, SeverityWarning, "dialect_drift",
		e.id+" stands below task "+top.id+": an id begins with the number of the heading above")
}

// headLine reads a line of text, and says whether nothing of it is about an item.
func headLine(n *numbered, ln *line, m marker) bool {
	n.leaveCriteria(ln)
	if n.owner >= 0 && ln.indent < n.ownerIndent && ln.margin == 0 {
		n.closeItem() // what is indented less than a box is about the task above
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
	if n.item != nil || len(n.heads) == 0 || bullet {
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

// headEvidence looks at a line for what only one of the dialects has.
func (n *numbered) headEvidence(ln *line, text string) {
	inside, ok := strings.CutPrefix(text, bold)
	if !ok {
		return
	}
	name, _, _ := strings.Cut(inside, ":")
	switch name = strings.TrimRight(name, "*"); {
	case equalWord(name, "Model"), equalWord(name, "review"), equalWord(name, "Depends on"):
		n.seen.see(signalReview, ln.number)
	case strings.HasPrefix(name, "Step "):
		n.seen.see(signalStep, ln.number)
	}
}

// deeperThanHeadings is the level of a section that a line of text began, so that any heading ends it.
const deeperThanHeadings = 7

// criteriaLabel reports whether a line is a label such as "**Acceptance Criteria:**".
func criteriaLabel(text string) bool {
	name, ok := strings.CutSuffix(text, ":")
	if inside, found := strings.CutPrefix(text, bold); found {
		name, _, ok = strings.Cut(inside, bold)
	}
	return ok && sectionOf(name) == sectionAcceptance
}

// leaveCriteria ends the criteria that a label began: at what is indented less, and at another label.
func (n *numbered) leaveCriteria(ln *line) {
	if n.sections.level == deeperThanHeadings && (ln.indent < n.sections.indent || strings.HasPrefix(ln.content(), bold)) {
		n.sections = sections{}
	}
}

// fileVerbs say what is to be done with a file.
var fileVerbs = [...]string{"Create", "Modify", "Test", "Delete", "Update", "Add", "Edit", "Remove", "Rename", "Move", "Verify", "Read", "New"}

// splitHeadFiles pushes the files of a line such as "Modify: `compost/main.go:12-40` (the call), `b.go`".
// Behind a path in quotes, words are a remark, even with commas in it.
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

// withoutVerbs cuts "Create: " and "Create/Modify: " off a file name.
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

// cutQuoted cuts a name in quotes of code off the front of s.
func cutQuoted(s string) (name, rest string, ok bool) {
	if s == "" || s[0] != '`' {
		return "", s, false
	}
	name, rest, ok = strings.Cut(s[1:], "`")
	return name, rest, ok
}

// cutJoint cuts off what joins two names, and says whether there is another one.
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

// cutRemark cuts off what stands behind a dash or in brackets behind a name.
func cutRemark(s string) (name string, remark bool) {
	s = withoutRemark(s)
	for _, dash := range [...]string{" — ", " – ", " - "} {
		if before, _, ok := strings.Cut(s, dash); ok {
			return trim(before), true
		}
	}
	return s, false
}

// mostIndented is how far a heading may be indented; what is deeper is code.
const mostIndented = 3

// reference reads one id that a task waits for, and drops the words behind it: "1: the scanner", "None - the first".
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
