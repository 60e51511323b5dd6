package plan

import (
	"strings"
	"unicode"
)

// This file reads the plans and track lists of Conductor: "- [x] Task: Title 7be20f1" below phase headings, and "##
// [~] Track: Title" above them.

var conductorGrammar = grammar{
	dialects: []string{conductor},
	label:    conductorLabel,
	named: func(heading string) string {
		heading, _ = cutCheckpoint(heading)
		return heading
	},
	marks: []meaning{
		{"~", InProgress, ""},
		{"-", Pending, `the mark "-" has no meaning in conductor, so the item is open: explain it in a legend, such as "[-] = skipped"`},
	},
	usable:     "a space, ~ or x",
	unnumbered: true,
	tracked:    true,
	missing:    "no Task: or Track: after a box, and no [checkpoint: …] after a heading",
}

// conductor reports whether the evidence for Conductor has more lines than the plan has numbered checkboxes. A single
// "Task:" is not enough.
func (s *dialectEvidence) conductor(numbers int) bool {
	strong := s.count[signalTrack] + s.count[signalCheckpoint]
	all := strong + s.count[signalTaskWord]
	return all > numbers && (strong > 0 || all > 1)
}

func conductorLabel(n *numbered, ln *line, b *box) (id, title string) {
	s := b.rest(ln.text)
	word, title := conductorWord(s)
	if word == "" && ln.text[ln.body] != '#' {
		if number, rest := taskNumber(s); number != "" {
			id, title = number, rest
		}
	}
	title, checkpoint := cutCheckpoint(title)
	title, commit := cutCommit(title)
	if n.item != nil {
		n.detail("checkpoint", checkpoint)
		n.detail("commit", commit)
	}
	n.tags.leads, n.tags.name = word == wordTrack, title
	return id, title
}

func (n *numbered) detail(name, value string) {
	if value != "" {
		n.tags.details = append(n.tags.details, name+" "+value)
	}
}

// track records that a heading has a checkbox.
func (n *numbered) track(level int, title string) {
	if n.item != nil {
		return
	}
	n.closeItem()
	n.headings++
	n.sections.enter(level, title)
	if !n.tags.leads && level > 1 {
		n.tags.level = level
	}
	n.tags.leads = true
}

// These words after a checkbox say what the item is.
const (
	wordTask  = "Task:"
	wordTrack = "Track:"
)

// conductorWord splits such a word, plain or bold, from the text after a checkbox. It returns "" if there is none.
func conductorWord(s string) (word, title string) {
	text := unbolded(s)
	for _, w := range [...]struct{ spelling, word string }{
		{wordTask, wordTask}, {wordTrack, wordTrack}, {"Sub-task:", wordTask}, {"Subtask:", wordTask},
	} {
		if len(text) >= len(w.spelling) && equalWord(text[:len(w.spelling)], w.spelling) {
			return w.word, trim(text[len(w.spelling):])
		}
	}
	return "", s
}

// unbolded removes the marks of bold type at the beginning of s.
func unbolded(s string) string {
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, bold), bold); ok && strings.HasPrefix(s, bold) {
		return inside + after
	}
	return s
}

// cutCommit removes the commit id from the end of a title. A word that is the whole title stays.
func cutCommit(title string) (rest, commit string) {
	last := strings.LastIndexFunc(title, unicode.IsSpace)
	if last < 0 {
		return title, ""
	}
	word := trim(title[last:])
	commit = strings.Trim(word, "`")
	for _, pair := range [...]string{"[]", "()"} {
		if len(commit) > 2 && commit[0] == pair[0] && commit[len(commit)-1] == pair[1] {
			commit = strings.Trim(commit[1:len(commit)-1], "`")
			break
		}
	}
	if !isCommit(commit) {
		return title, ""
	}
	return trim(title[:last]), commit
}

// isCommit reports whether a word is a commit id: 7 to 40 hexadecimal digits with at least one digit and one letter.
// Words such as "defaced" and numbers such as 20261121 are therefore excluded.
func isCommit(word string) bool {
	const shortest, longest = 7, 40
	return len(word) >= shortest && len(word) <= longest &&
		strings.Trim(word, "0123456789abcdefABCDEF") == "" &&
		strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdefABCDEF")
}

// cutCheckpoint removes "[checkpoint: 4c1d9aa]" from a heading.
func cutCheckpoint(heading string) (rest, checkpoint string) {
	const opening = "[checkpoint:"
	for at := strings.IndexByte(heading, '['); at >= 0; {
		next := at + 1
		if len(heading)-at >= len(opening) && equalWord(heading[at:at+len(opening)], opening) {
			next = at + len(opening)
			end := next + strings.IndexAny(heading[next:], "[]")
			if end >= next && heading[end] == ']' {
				return trim(trimRight(heading[:at]) + heading[end+1:]), trim(heading[next:end])
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
