package dialect

import (
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// specKit is the dialect of spec-kit: "- [ ] T002 [P] [US1] Title in dir/file.go (depends on T001)" below phase
// headings.
var specKit = Dialect{
	Name: "spec-kit",
	Fits: func(s *Survey) int {
		if s.Hinted {
			return s.Count[BoxTaskID] + s.Unnumbered
		}
		return s.Count[BoxTaskID]
	},
	Looks:    []Look{BoxTaskID, BoxTag},
	Folders:  []string{".specify/"},
	Criteria: "spec.md",
	Label:    specKitLabel,
	Marks:    []Meaning{{"-", plan.Skipped, ""}},
	Boxes:    Signs{plan.Pending: {" "}, plan.Completed: {"X", "x"}, plan.Skipped: {"-"}},
	Texts: Texts{
		Usable:  spaceXDash,
		Stop:    " ",
		Missing: "no checkbox outside fences and comments has an id such as T001 after it",
		Wanted:  "put an id such as T001 and a space after the box to make it a task",
	},
	Traits: Traits{Phased: true, Anywhere: true},
}

func specKitLabel(text string, l *Label) {
	rest := l.cutTags(text)
	if inside, after, bold := lex.CutBold(rest); bold {
		if id, _ := lex.ReadTaskID(inside); id != "" {
			rest = inside + " " + lex.Trim(after)
		}
	}
	id, end := lex.ReadTaskID(rest)
	if l.ID, l.Title = id, rest; id == "" {
		return
	}
	l.Title = l.cutTags(lex.Trim(rest[end:]))
	if l.Full {
		l.Files = pathsIn(l.Title)
	}
}

// cutTags removes "[P]" and "[US1]" from the beginning of s, in any order.
func (l *Label) cutTags(s string) string {
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			break
		}
		tag := s[1:end]
		number, story := strings.CutPrefix(tag, "US")
		switch {
		case tag == "P" || tag == "p":
			l.Parallel = true
		case !story || number == "" || strings.Trim(number, "0123456789") != "":
			return s
		case l.Full:
			l.Stories = append(l.Stories, tag)
		}
		s = lex.Trim(s[end+1:])
	}
	return s
}

// CutTags removes the tags of spec-kit from the beginning of a text.
func CutTags(s string) string {
	if s == "" || s[0] != '[' {
		return s
	}
	var l Label
	return l.cutTags(s)
}

// pathsIn returns the words of a title that are file paths: they have a slash, and a dot in their last part.
func pathsIn(title string) (paths []string) {
	for word := range strings.FieldsSeq(title) {
		word = strings.Trim(word, "`,;:()*\"'")
		word = strings.TrimRight(word, ".")
		name := word[strings.LastIndexByte(word, '/')+1:]
		if len(name) < len(word) && strings.IndexByte(name, '.') >= 0 && !strings.Contains(word, "://") {
			paths = append(paths, word)
		}
	}
	return paths
}
