package plan

import (
	"strings"
	"unicode"
)

// This file parses the heading of a task: "Task 2: Compost log (COMPLETED)".

// head is a parsed heading of a task.
type head struct {
	id, title string // the id is "" in "Task: Compost log"
	said      said   // its status is 0 if the heading has none
	group     bool   // it is a task group
	withdrawn bool   // it is struck through
}

// said is a status and its position: a word, a sign or both, without brackets.
type said struct {
	status   Status
	from, to int // a range of the parsed text
}

// headingText returns the text of a heading.
func headingText(ln *line, m *marker) string {
	return trim(strings.TrimRight(ln.text[m.next:], "#"))
}

// readHead parses the text of a heading. ok is false if it is not a task.
func readHead(text string) (h head, ok bool) { return headAs(text, taskNamed) }

// headAs parses the text of a heading whose beginning named parses. head is passed by value, so that no memory is
// allocated for a heading.
func headAs(text string, named func(h head, text string) (head, string, bool)) (h head, ok bool) {
	whole := text
	text, h.withdrawn = cutStruck(text)
	text = trimRight(strings.ReplaceAll(text, bold, ""))
	width := len(text)
	text = h.said.cut(text, true)
	if !h.withdrawn {
		text, h.withdrawn = cutStruck(text) // "~~Task 2: Compost log~~ (done)"
	}
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	h, rest, ok := named(h, text)
	if !ok {
		return head{}, false
	}
	h.entitle(rest, width)
	h.said.within(whole)
	if h.title == "" {
		h.title = text
	}
	inside, withdrawn := cutStruck(h.title)
	h.title, h.withdrawn = inside, h.withdrawn || withdrawn
	return h, true
}

// taskNamed parses "Task 2", "Task Group 2" and "Task:".
func taskNamed(h head, text string) (named head, rest string, ok bool) {
	rest, ok = cutWord(text, "Task")
	if !ok {
		return h, "", false
	}
	if title, unnumbered := strings.CutPrefix(rest, ":"); unnumbered {
		return h, title, trim(title) != ""
	}
	if after, found := cutWord(trim(rest), "Group"); found {
		h.group, rest = true, after
	}
	h.id, rest = headID(strings.TrimPrefix(trim(rest), "#"))
	return h, rest, h.id != ""
}

// entitle parses the text after the id, which may begin or end with a status. It is the end of a text with this width.
func (h *head) entitle(rest string, width int) {
	const dashes = "-–—: \t"
	h.title = strings.TrimLeft(rest, dashes)
	if h.said.status != 0 {
		return
	}
	before := width - len(h.title)
	h.title = strings.TrimLeft(h.said.cut(h.title, false), dashes)
	h.said.from, h.said.to = h.said.from+before, h.said.to+before
}

// cut removes a status from either end of a text and records its position.
func (s *said) cut(text string, whole bool) (rest string) {
	rest, s.status = cutStatus(text, whole)
	if s.status == 0 {
		return rest
	}
	at, off := 0, strings.TrimSuffix(text, rest)
	if off == text && rest != "" {
		at, off = len(rest), text[len(rest):]
	}
	from, to := sayingIn(off)
	s.from, s.to = at+from, at+to
	return rest
}

// sayingIn returns the range of the word or sign in the removed text, without brackets and without a date.
func sayingIn(off string) (from, to int) {
	const around = "-–—: \t"
	from, to = len(off)-len(strings.TrimLeft(off, around)), len(strings.TrimRight(off, around))
	if from < to && (off[from] == '(' || off[from] == '[') {
		isBox := off[from] == '['
		if from, to = from+1, to-1; isBox && boxed(off[from:to]) != 0 {
			return from, to
		}
	}
	inside := off[from:to]
	from, inside = from+len(inside)-len(strings.TrimLeft(inside, " \t")), trim(inside)
	if last := strings.LastIndexByte(inside, ' '); last > 0 && isDate(inside[last+1:]) {
		inside = strings.TrimRight(inside[:last], " ,:-")
	}
	return from, from + len(inside)
}

// within converts the range to one of the text with its bold type.
func (s *said) within(text string) {
	from, to, at := s.from, s.to, 0
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], bold) {
			i += len(bold) - 1
			continue
		}
		if at == from {
			s.from = i
		}
		if at++; at == to {
			s.to = i + 1
			return
		}
	}
}

// almostHead reports whether a heading resembles a task without being one.
func almostHead(text string) bool {
	rest, ok := cutWord(text, "Task")
	rest = strings.TrimLeft(rest, " #")
	return ok && rest != "" && isDigit(rest[0])
}

// cutWord removes a word from the beginning of s, if white space or a colon follows it.
func cutWord(s, word string) (rest string, ok bool) {
	if len(s) <= len(word) || !equalWord(s[:len(word)], word) {
		return s, false
	}
	return s[len(word):], s[len(word)] == ':' || blankAt(s, len(word)) > 0
}

// headID parses "1.2", "B" or "B2". A letter needs a stop or a dash after it, because it may be a word.
func headID(s string) (id, rest string) {
	if id, end, _ := readID(s); id != "" {
		return id, trim(s[end:])
	}
	if s == "" || !isUpper(s[0]) {
		return "", s
	}
	end := 1
	for end < len(s) && end < longestID && (isDigit(s[end]) || s[end] == '.' && end+1 < len(s) && isDigit(s[end+1])) {
		end++
	}
	rest = trim(s[end:])
	for _, stop := range [...]string{":", ".", ")", "-", "–", "—"} {
		if strings.HasPrefix(rest, stop) {
			return s[:end], trim(rest[len(stop):])
		}
	}
	if rest == "" {
		return s[:end], ""
	}
	return "", s
}
