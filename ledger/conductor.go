package ledger

import (
	"strings"
	"unicode"
)

// This file knows the plans and track lists of Conductor: "- [x] Task: Title
// 7be20f1" below headings that name phases, and "## [~] Track: Title" above all.

var conductorGrammar = grammar{
	dialects: []string{conductor},
	label:    conductorLabel,
	named: func(heading string) string {
		heading, _ = cutCheckpoint(heading)
		return heading
	},
	marks: []meaning{
		{"~", InProgress, ""},
		{"-", Pending, `the mark "-" means nothing in conductor, so the item is open: say in a legend what it means, such as "[-] = skipped"`},
	},
	usable:     "a space, ~ or x",
	unnumbered: true,
	tracked:    true,
	missing:    "no Task: or Track: behind a box, and no [checkpoint: …] behind a heading",
}

// conductor reports whether more lines speak for Conductor than boxes have a
// number. One "Task:" is no more than a word.
func (s *sightings) conductor(numbers int) bool {
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

// track notes that a box is that of a heading.
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

// Words behind a box that say what the item is.
const (
	wordTask  = "Task:"
	wordTrack = "Track:"
)

// conductorWord cuts the word off what stands behind a box, also one in bold
// type. It is "" where there is none.
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

// unbolded takes the marks off bold type that s begins with.
func unbolded(s string) string {
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, bold), bold); ok && strings.HasPrefix(s, bold) {
		return inside + after
	}
	return s
}

// cutCommit takes the commit off the end of a title. A word that is all there
// is of a title stays.
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

// isCommit reports whether a word is the id of a commit: 7 to 40 hexadecimal
// digits. Words such as "defaced" and numbers such as 20261121 have the same
// form, so there has to be one digit and one letter at least.
func isCommit(word string) bool {
	const shortest, longest = 7, 40
	return len(word) >= shortest && len(word) <= longest &&
		strings.Trim(word, "0123456789abcdefABCDEF") == "" &&
		strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdefABCDEF")
}

// cutCheckpoint takes "[checkpoint: 4c1d9aa]" out of a heading.
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
