package ledger

import (
	"strings"
	"unicode"
)

// This file reads the text of a heading that is a task: "Task 2: Compost log (COMPLETED)".

// head is what a heading says about its task.
type head struct {
	id, title string // the id is "" in "Task: Compost log"
	status    Status // 0 if the heading has no word or sign for it
	group     bool   // it is a task group
	withdrawn bool   // it is struck through
}

// headingText returns the text of a heading.
func headingText(ln *line, m *marker) string {
	return trim(strings.TrimRight(ln.text[m.next:], "#"))
}

// readHead reads the text of a heading; ok is false if that is no task.
func readHead(text string) (h head, ok bool) {
	if inside, found := strings.CutPrefix(text, struck); found && strings.HasSuffix(inside, struck) {
		h.withdrawn, text = true, strings.TrimSuffix(inside, struck)
	}
	text = strings.ReplaceAll(text, bold, "")
	text, h.status = cutStatus(text, true)
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	rest, ok := cutWord(text, "Task")
	if !ok {
		return head{}, false
	}
	if strings.HasPrefix(rest, ":") {
		h.title = trim(rest[1:])
		return h, h.title != ""
	}
	if after, found := cutWord(trim(rest), "Group"); found {
		h.group, rest = true, after
	}
	h.id, rest = headID(strings.TrimPrefix(trim(rest), "#"))
	if h.id == "" {
		return head{}, false
	}
	h.title = strings.TrimLeft(rest, "-–—: \t")
	if h.status == 0 {
		h.title, h.status = cutStatus(h.title, false)
		h.title = strings.TrimLeft(h.title, "-–—: \t")
	}
	if h.title == "" {
		h.title = text
	}
	return h, true
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
