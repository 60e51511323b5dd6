package dialect

import (
	"strings"

	"waybill/plan/lex"
)

// ccpm is the dialect of the task lists in the epics of CCPM: "- [ ] 002.md - Title (parallel: false, depends on 001)".
var ccpm = Dialect{
	Name: "ccpm",
	Fits: func(s *Survey) int {
		if named := max(s.Count[BoxFile], s.Count[BoxFlag]); named > s.Numbered {
			return named
		}
		return 0
	},
	Looks: []Look{BoxFile, BoxFlag},
	Label: func(text string, l *Label) {
		id, rest, _ := FileID(lex.Unbold(text))
		if l.ID, l.Title = id, text; id != "" {
			l.Title = l.cutFlags(rest)
		}
	},
	Marks: closed("ccpm"),
	Boxes: twoMarks,
	Texts: Texts{
		Usable:  spaceOrX,
		Wanted:  "put the name of the task's file, such as 001.md, and a hyphen after the box to make it a task",
		Stop:    ".md - ",
		Missing: "no file name such as 001.md after a box",
	},
}

// FileID parses the name of a task after its checkbox and the dash after it. The name is its file "001.md", "001", or
// "#4" if the task is already an issue.
func FileID(s string) (id, rest string, file bool) {
	switch {
	case s == "" || strings.IndexByte("[`#0123456789", s[0]) < 0:
		return "", "", false
	case s[0] == '[':
		if inside, after, ok := strings.Cut(s[1:], "]("); ok {
			if _, after, ok = strings.Cut(after, ")"); ok {
				s = inside + after
			}
		}
	}
	text := strings.TrimPrefix(strings.TrimPrefix(s, "`"), "#")
	id = text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	text = text[len(id):]
	rest, file = strings.CutPrefix(text, ".md")
	rest = lex.Trim(strings.TrimPrefix(rest, "`"))
	const digits = 3 // the length of a task number; issue numbers have any length
	known := file || strings.HasPrefix(s, "#") || len(id) == digits
	if id == "" || len(id) > lex.LongestID || !known || strings.TrimLeft(rest, "-–—:") == rest {
		return "", "", false
	}
	return id, lex.Trim(strings.TrimLeft(rest, "-–—:")), file
}

// cutFlags removes all bracketed flags, such as "(depends on: 001) (parallel: true)", from the end of a title.
func (l *Label) cutFlags(title string) string {
	var inside []string
	for at := lastBracket(title); at >= 0; at = lastBracket(title) {
		if !flagged(title[at+1 : len(title)-1]) {
			break
		}
		inside, title = append(inside, title[at+1:len(title)-1]), lex.Trim(title[:at])
	}
	var f flags
	for i := len(inside) - 1; i >= 0; i-- {
		f.list = nil
		for part := range strings.SplitSeq(inside[i], ",") {
			f.read(lex.Trim(part))
		}
	}
	l.Parallel, l.Waits = f.parallel, strings.Join(f.waits, ", ")
	l.detail("conflicts with", strings.Join(f.conflicts, ", "))
	if l.Full {
		l.Details = append(l.Details, f.others...)
	}
	return title
}

// flagged reports whether one of the parts between brackets begins with a flag key.
func flagged(inside string) bool {
	var f flags
	for part := range strings.SplitSeq(inside, ",") {
		if f.read(lex.Trim(part)); f.any {
			return true
		}
	}
	return false
}

// lastBracket returns the index of the bracket that the last byte of s closes, or -1.
func lastBracket(s string) int {
	if !strings.HasSuffix(s, ")") {
		return -1
	}
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// flags are the parsed flags in brackets after a title.
type flags struct {
	any, parallel            bool
	waits, conflicts, others []string
	list                     *[]string // that a part without key goes on with
}

// flagWords are the keys of flags.
var flagWords = [...]string{"parallel", "depends on", "depends_on", "depends", "conflicts with", "conflicts_with", "conflicts"}

func (f *flags) read(part string) {
	for _, word := range flagWords {
		if len(part) < len(word) || !lex.EqualWord(part[:len(word)], word) || len(part) > len(word) && strings.IndexByte(": ", part[len(word)]) < 0 {
			continue
		}
		value := lex.Trim(strings.TrimLeft(part[len(word):], ": "))
		f.any = true
		switch word[0] {
		case 'p':
			f.parallel, f.list = value == "" || lex.EqualWord(value, "true") || lex.EqualWord(value, "yes"), nil
			return
		case 'd':
			f.list = &f.waits
		default:
			f.list = &f.conflicts
		}
		f.add(value)
		return
	}
	ref := bareRef(part)
	if f.list != nil && ref != "" && lex.IsDigit(ref[0]) && strings.Trim(ref, "0123456789-–") == "" {
		f.add(part)
		return
	}
	if f.list = nil; part != "" {
		f.others = append(f.others, part)
	}
}

// add adds a reference to the current list.
func (f *flags) add(ref string) {
	if ref = bareRef(ref); ref != "" {
		*f.list = append(*f.list, ref)
	}
}

// bareRef removes the parts of a reference that are not part of an id.
func bareRef(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.Trim(s, "[] `\"'"), "#"), ".md")
}
