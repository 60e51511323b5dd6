package dialect

import (
	"strings"
	"unicode"

	"waybill/plan"
	"waybill/plan/lex"
)

// conductor is the dialect of the plans and track lists of Conductor: "- [x] Task: Title 7be20f1" below phase headings,
// and "## [~] Track: Title" above them. A single "Task:" is no evidence.
var conductor = Dialect{
	Name: "conductor",
	Fits: func(s *Survey) int {
		strong := s.Count[BoxTrack] + s.Count[HeadCheckpoint]
		all := strong + s.Count[BoxTaskWord]
		if s.Hinted || all > s.Numbered && (strong > 0 || all > 1) {
			return all + s.Unnumbered
		}
		return 0
	},
	Looks:   []Look{BoxTrack, HeadCheckpoint, BoxTaskWord},
	Folders: []string{"conductor/"},
	Label:   conductorLabel,
	Named: func(heading string) string {
		heading, _ = cutCheckpoint(heading)
		return heading
	},
	Marks: []Meaning{
		{"~", plan.InProgress, ""},
		{"-", plan.Pending, `the mark "-" has no meaning in conductor, so the item is open: explain it in a legend, such as "[-] = skipped"`},
	},
	Boxes: Signs{plan.Pending: {" "}, plan.InProgress: {"~"}, plan.Completed: {"x", "X"}},
	Texts: Texts{
		Usable:  "a space, ~ or x",
		Stop:    " ",
		Missing: "no Task: or Track: after a box, and no [checkpoint: …] after a heading",
	},
	Traits: Traits{Unnumbered: true, Tracked: true},
}

func conductorLabel(text string, l *Label) {
	look, title := TaskWord(text)
	if l.Title = title; look == Looks && !l.InHead {
		if number, rest := lex.TaskNumber(text); number != "" {
			l.ID, l.Title = number, rest
		}
	}
	var checkpoint, commit string
	l.Title, checkpoint = cutCheckpoint(l.Title)
	l.Title, commit = cutCommit(l.Title)
	l.detail("checkpoint", checkpoint)
	l.detail("commit", commit)
	l.Leads = look == BoxTrack
}

func (l *Label) detail(name, value string) {
	if value != "" && l.Full {
		l.Details = append(l.Details, name+" "+value)
	}
}

// TaskWord splits "Task:" or "Track:", plain or bold, from the text after a checkbox. It returns Looks if there is none.
func TaskWord(s string) (look Look, title string) {
	text := lex.Unbold(s)
	if text == "" || text[0]|0x20 != 't' && text[0]|0x20 != 's' {
		return Looks, s
	}
	for _, w := range [...]struct {
		word string
		look Look
	}{{"Task:", BoxTaskWord}, {"Track:", BoxTrack}, {"Sub-task:", BoxTaskWord}, {"Subtask:", BoxTaskWord}} {
		if len(text) >= len(w.word) && lex.EqualWord(text[:len(w.word)], w.word) {
			return w.look, lex.Trim(text[len(w.word):])
		}
	}
	return Looks, s
}

// cutCommit removes the commit id from the end of a title. A word that is the whole title stays.
func cutCommit(title string) (rest, commit string) {
	last := strings.LastIndexFunc(title, unicode.IsSpace)
	if last < 0 {
		return title, ""
	}
	word := lex.Trim(title[last:])
	commit = strings.Trim(word, "`")
	for _, pair := range [...]string{"[]", "()"} {
		if len(commit) > 2 && commit[0] == pair[0] && commit[len(commit)-1] == pair[1] {
			commit = strings.Trim(commit[1:len(commit)-1], "`")
			break
		}
	}
	// A commit has 7 to 40 hexadecimal digits with at least one digit and one letter, unlike "defaced" and 20261121.
	if len(commit) < 7 || len(commit) > 40 || strings.Trim(commit, "0123456789abcdefABCDEF") != "" ||
		!strings.ContainsAny(commit, "0123456789") || !strings.ContainsAny(commit, "abcdefABCDEF") {
		return title, ""
	}
	return lex.Trim(title[:last]), commit
}

// cutCheckpoint removes "[checkpoint: 4c1d9aa]" from a heading.
func cutCheckpoint(heading string) (rest, checkpoint string) {
	const opening = "[checkpoint:"
	for at := strings.IndexByte(heading, '['); at >= 0; {
		next := at + 1
		if len(heading)-at >= len(opening) && lex.EqualWord(heading[at:at+len(opening)], opening) {
			next = at + len(opening)
			end := next + strings.IndexAny(heading[next:], "[]")
			if end >= next && heading[end] == ']' {
				return lex.Trim(lex.TrimRight(heading[:at]) + heading[end+1:]), lex.Trim(heading[next:end])
			}
		}
		step := strings.IndexByte(heading[next:], '[')
		if step < 0 {
			break
		}
		at = next + step
	}
	return heading, ""
}

// HasCheckpoint reports whether a heading has the mark of a checkpoint.
func HasCheckpoint(heading string) bool {
	_, checkpoint := cutCheckpoint(heading)
	return checkpoint != ""
}
