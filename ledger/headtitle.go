package ledger

import (
	"strings"
	"unicode"
)

// This file reads the text of a heading that is a task: "Task 2: Compost log (COMPLETED)".

// head is what a heading says about its task.
type head struct {
	id, title string // the id is "" in "Task: Compost log"
	said      said   // its status is 0 if the heading has no word or sign for it
	group     bool   // it is a task group
	withdrawn bool   // it is struck through
}

// said is a status and what says so: a word or a sign, or both, without the brackets around them.
type said struct {
	status   Status
	from, to int // a range of the text that was read
}

// headingText returns the text of a heading.
func headingText(ln *line, m *marker) string {
	return trim(strings.TrimRight(ln.text[m.next:], "#"))
}

// readHead reads the text of a heading; ok is false if that is no task.
func readHead(text string) (h head, ok bool) { return headAs(text, taskNamed) }

// headAs reads the text of a heading that begins with what named cuts off.
// The head goes in and out as a value, so that a heading costs no memory.
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

// taskNamed reads "Task 2", "Task Group 2" and "Task:".
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

// entitle reads what stands behind the id, which may begin or end with a status. It is the end of a text of
// this width.
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

// cut takes a status off either end of a text and notes where it stood.
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

// sayingIn gives the range of the word or sign in what was cut off a text: without brackets, and without a date.
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

// within makes the range one of the text as it was before bold type was taken off.
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

// almostHead reports whether a heading that is no task looks like one.
func almostHead(text string) bool {
	rest, ok := cutWord(text, "Task")
	rest = strings.TrimLeft(rest, " #")
	return ok && rest != "" && isDigit(rest[0])
}

// cutWord cuts a word with white space or a colon behind it off the front of s.
func cutWord(s, word string) (rest string, ok bool) {
	if len(s) <= len(word) || !equalWord(s[:len(word)], word) {
		return s, false
	}
	return s[len(word):], s[len(word)] == ':' || blankAt(s, len(word)) > 0
}

// headID reads "1.2" or "B" or "B2". A letter needs a stop or a dash behind it, or it is a word.
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
