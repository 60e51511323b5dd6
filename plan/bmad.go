package plan

import "strings"

// This file reads the stories of BMAD. Tasks are "- [ ] Task 2: Title (AC: 1, 3)" in the section "Tasks / Subtasks".
// All other checkboxes are not tasks.

var bmadGrammar = grammar{
	dialects: []string{bmad},
	label:    bmadLabel,
	heading:  bmadHeading,
	marks: []meaning{
		{"~", Pending, `the mark "~" has no meaning in bmad, so the item is open: explain it in a legend, such as "[~] = skipped"`},
		{"-", Pending, `the mark "-" has no meaning in bmad, so the item is open: explain it in a legend, such as "[-] = skipped"`},
	},
	usable:     "a space or x",
	unnumbered: true,
	begins:     sectionOther,
	missing:    "no section \"Tasks / Subtasks\" with boxes in it",
}

const subtasksHeading = "Tasks / Subtasks"

// bmad reports whether a plan has the heading that only BMAD uses, or its words after checkboxes. A plan with prompts
// is not a story.
func (s *dialectEvidence) bmad(numbers int) bool {
	if s.first[signalBlocked]+s.first[signalPrompt]+s.first[signalLeverage] > 0 {
		return false
	}
	criteria := s.count[signalCriteria]
	return s.first[signalSubtasks] > 0 || criteria > 0 && s.count[signalTaskNumber] > 0 || criteria > 1 && numbers == 0
}

// story reports whether the checkboxes have the task numbers of a story. Headings such as "Task 1" are then not tasks.
func (s *dialectEvidence) story() bool {
	return s.first[signalSubtasks] > 0 && s.count[signalTaskNumber] >= max(1, s.count[signalTaskHeading]) && s.bmad(0)
}

// maybeStory reports whether a plan that looks like a story can be one: nothing in it excludes a story, or it has more
// lines with task numbers than numbered items.
func (n *numbered) maybeStory() bool {
	return !n.exclusive() || n.evidence.count[signalTaskNumber] > n.r.Len()
}

// isSubtasks reports whether a heading begins the tasks of a story. No other dialect uses this heading for its tasks.
func isSubtasks(heading string) bool {
	if !strings.Contains(heading, "ubtask") {
		return false
	}
	name := slug(heading)
	return strings.HasPrefix(name, "tasks-subtasks") || strings.HasPrefix(name, "tasks-and-subtasks")
}

// bmadHeading enters and leaves the section with the tasks.
func bmadHeading(n *numbered, _ *line, level int, text string) {
	s := &n.sections
	switch {
	case isSubtasks(text) || slug(text) == "tasks":
		*s = sections{kind: sectionTasks, name: text, level: level, home: level}
	case level <= s.home || s.home == 0:
		s.kind, s.home = sectionOther, 0
	}
}

func bmadLabel(n *numbered, ln *line, b *box) (id, title string) {
	s := b.rest(ln.text)
	if n.item == nil && n.sections.kind != sectionTasks {
		return "", s
	}
	id, title = storyID(s)
	title, criteria := cutCriteria(title)
	if n.item != nil {
		n.tags.stories = criteria
	}
	if id != "" {
		title = trim(strings.TrimLeft(title, ":"))
	}
	return id, title
}

// storyID reads "Task 2: Title", "T3. Title" and "1.2 Title", also in bold type.
func storyID(s string) (id, title string) {
	text := unbolded(s)
	if id, title = taskNumber(text); id != "" {
		return id, title
	}
	if len(text) > 1 && text[0] == 'T' && isDigit(text[1]) {
		if id, end, _ := readID(text[1:]); id != "" {
			return "T" + id, afterID(text[1+end:])
		}
	}
	// A number alone may count something: "3 columns".
	if id, end, _ := readID(text); end > len(id) || strings.Contains(id, ".") {
		return id, afterID(text[end:])
	}
	return "", s
}

// taskNumber reads "Task 2: Title" and "Subtask 2.1 - Title", also in bold type.
func taskNumber(s string) (id, title string) {
	text := unbolded(s)
	for _, word := range [...]string{"Task ", "Subtask ", "Sub-task "} {
		if len(text) < len(word) || !equalWord(text[:len(word)], word) {
			continue
		}
		text = trim(text[len(word):])
		prefix := ""
		if len(text) > 1 && text[0] == 'T' {
			prefix, text = "T", text[1:]
		}
		if id, end, _ := readID(text); id != "" {
			return prefix + id, afterID(text[end:])
		}
		break
	}
	return "", s
}

// afterID returns the title after an id and a dash.
func afterID(s string) string {
	return trim(strings.TrimLeft(trim(s), "-–—"))
}

// cutCriteria removes each "(AC: 1, #2)" from a title and returns "AC 1" and "AC 2".
func cutCriteria(title string) (rest string, criteria []string) {
	const opening = "(AC"
	var b strings.Builder
	from := 0
	for at := strings.Index(title, opening); at >= 0; {
		next := at + len(opening)
		// The search stops at the next bracket, so that a line full of opening brackets takes linear time.
		end := next + strings.IndexAny(title[next:], "()")
		if end > next && title[end] == ')' {
			if list := criteriaList(title[next:end]); list != nil {
				appendTitle(&b, title[from:at])
				criteria = append(criteria, list...)
				from, next = end+1, end+1
			}
		}
		step := strings.Index(title[next:], opening)
		if step < 0 {
			break
		}
		at = next + step
	}
	if from == 0 {
		return title, nil
	}
	appendTitle(&b, title[from:])
	return b.String(), criteria
}

// appendTitle appends a part of a title after a removed part.
func appendTitle(b *strings.Builder, part string) {
	if part = trim(part); part == "" {
		return
	}
	if b.Len() > 0 && strings.IndexByte(".:,;", part[0]) < 0 {
		b.WriteByte(' ')
	}
	b.WriteString(part)
}

// criteriaList parses the text after "(AC". It returns nil if there are no criteria, as in "(AC voltage)".
func criteriaList(inside string) (criteria []string) {
	list := strings.TrimPrefix(inside, "s")
	switch text := trim(strings.TrimLeft(list, "-")); {
	case text == "":
		return nil
	case text[0] == ':':
		list = text[1:]
	case text[0] == '#' || isDigit(text[0]):
		list = text
	default:
		return nil
	}
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' }) {
		part = strings.TrimPrefix(trim(part), "AC")
		part = trim(strings.TrimLeft(part, "#:- "))
		switch {
		case part == "":
		case isDigit(part[0]) || equalWord(part, "all"):
			criteria = append(criteria, "AC "+part)
		default: // a requirement of another kind
			criteria = append(criteria, part)
		}
	}
	return criteria
}
