package dialect

import (
	"strings"

	"waybill/plan/lex"
)

// bmad is the dialect of the stories of BMAD. Tasks are "- [ ] Task 2: Title (AC: 1, 3)" in the section "Tasks /
// Subtasks". All other checkboxes are not tasks.
var bmad = Dialect{
	Name: "bmad",
	Fits: func(s *Survey) int {
		criteria := s.Count[BoxCriteria]
		story := s.Has(HeadSubtasks) || criteria > 0 && s.Count[BoxTaskNumber] > 0 || criteria > 1 && s.Numbered == 0
		if s.Has(FieldBlocked, FieldPrompt, FieldLeverage) || s.Exclusive() && s.Count[BoxTaskNumber] <= s.Numbered || !story && !s.Hinted {
			return 0
		}
		return max(s.Home, s.Count[BoxTaskNumber])
	},
	Looks:    []Look{HeadSubtasks, BoxCriteria, BoxTaskNumber},
	Folders:  []string{"_bmad-output/", "docs/stories/"},
	Criteria: ".",
	Home:     func(heading string) bool { return IsSubtasks(heading) || lex.Slug(heading) == "tasks" },
	Label: func(text string, l *Label) {
		l.ID, l.Title = storyID(text)
		var criteria []string
		l.Title, criteria = CutCriteria(l.Title)
		if l.Full {
			l.Stories = criteria
		}
		if l.ID != "" {
			l.Title = lex.Trim(strings.TrimLeft(l.Title, ":"))
		}
	},
	Marks: closed("bmad"),
	Boxes: twoMarks,
	Texts: Texts{
		Usable:  spaceOrX,
		Stop:    " ",
		Missing: "no section \"Tasks / Subtasks\" with boxes in it",
	},
	Traits: Traits{Unnumbered: true},
}

// IsSubtasks reports whether a heading begins the tasks of a story. No other dialect uses this heading for its tasks.
func IsSubtasks(heading string) bool {
	if !strings.Contains(heading, "ubtask") {
		return false
	}
	name := lex.Slug(heading)
	return strings.HasPrefix(name, "tasks-subtasks") || strings.HasPrefix(name, "tasks-and-subtasks")
}

// storyID reads "Task 2: Title", "T3. Title" and "1.2 Title", also in bold type.
func storyID(s string) (id, title string) {
	text := lex.Unbold(s)
	if id, title = lex.TaskNumber(text); id != "" {
		return id, title
	}
	if len(text) > 1 && text[0] == 'T' && lex.IsDigit(text[1]) {
		if id, end, _ := lex.ReadID(text[1:]); id != "" {
			return "T" + id, lex.AfterID(text[1+end:])
		}
	}
	// A number alone may count something: "3 columns".
	if id, end, _ := lex.ReadID(text); end > len(id) || strings.Contains(id, ".") {
		return id, lex.AfterID(text[end:])
	}
	return "", s
}

// CutCriteria removes each "(AC: 1, #2)" from a title and returns "AC 1" and "AC 2".
func CutCriteria(title string) (rest string, criteria []string) {
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
	if part = lex.Trim(part); part == "" {
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
	switch text := lex.Trim(strings.TrimLeft(list, "-")); {
	case text == "":
		return nil
	case text[0] == ':':
		list = text[1:]
	case text[0] == '#' || lex.IsDigit(text[0]):
		list = text
	default:
		return nil
	}
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' }) {
		part = strings.TrimPrefix(lex.Trim(part), "AC")
		part = lex.Trim(strings.TrimLeft(part, "#:- "))
		switch {
		case part == "":
		case lex.IsDigit(part[0]) || lex.EqualWord(part, "all"):
			criteria = append(criteria, "AC "+part)
		default: // a requirement of another kind
			criteria = append(criteria, part)
		}
	}
	return criteria
}
