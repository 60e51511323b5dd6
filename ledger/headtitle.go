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
	text, h.status = cutStatus(text)
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
		h.title, h.status = cutStatus(h.title)
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

// headSigns stand for a status in a heading.
var headSigns = [...]struct {
	text   string
	status Status
}{
	{"✅", Completed},
	{"✔", Completed},
	{"☑", Completed},
	{"⏳", InProgress},
	{"🚧", InProgress},
	{"🔄", InProgress},
}

// headWords are what stands for a status in the brackets of a heading, and nothing besides it.
var headWords = [...]struct {
	text   string
	status Status
}{
	{"completed", Completed},
	{"complete", Completed},
	{"done", Completed},
	{"finished", Completed},
	{"x", Completed},
	{"in progress", InProgress},
	{"in-progress", InProgress},
	{"wip", InProgress},
	{"started", InProgress},
	{"blocked", Blocked},
	{"skipped", Skipped},
	{"superseded", Skipped},
	{"deferred", Skipped},
	{"withdrawn", Skipped},
	{"cancelled", Skipped},
	{"canceled", Skipped},
	{"obsolete", Skipped},
	{"dropped", Skipped},
	{"pending", Pending},
	{"not started", Pending},
	{"open", Pending},
	{"todo", Pending},
}

// cutStatus cuts a status off either end of a text: "(COMPLETED)", "[x]", "✅" and "✅ COMPLETED".
func cutStatus(text string) (rest string, status Status) {
	if text == "" {
		return "", 0
	}
	for _, pair := range [...]string{"()", "[]"} {
		if at := strings.LastIndexByte(text, pair[0]); at >= 0 && text[len(text)-1] == pair[1] {
			if status = statusIn(text[at+1 : len(text)-1]); status != 0 {
				return trimRight(text[:at]), status
			}
		}
		if end := strings.IndexByte(text, pair[1]); end >= 0 && text[0] == pair[0] {
			if status = statusIn(text[1:end]); status != 0 {
				return trim(text[end+1:]), status
			}
		}
	}
	for _, sign := range headSigns {
		if after, ok := strings.CutPrefix(text, sign.text); ok {
			return trim(strings.TrimPrefix(after, selector)), sign.status
		}
		if at := strings.LastIndex(text, sign.text); at > 0 {
			after := trim(strings.TrimPrefix(text[at+len(sign.text):], selector))
			if after == "" || statusIn(after) != 0 {
				return trimRight(text[:at]), sign.status
			}
		}
	}
	return text, 0
}

// statusIn reads what stands in brackets: a word for a status, with or without a sign, and behind it
// nothing or no more words, such as a date. An empty box is open.
func statusIn(inside string) Status {
	if inside != "" && trim(inside) == "" {
		return Pending
	}
	words, sign := trim(inside), Status(0)
	for _, s := range headSigns {
		if after, ok := strings.CutPrefix(words, s.text); ok {
			words, sign = trim(strings.TrimPrefix(after, selector)), s.status
		}
	}
	end := strings.IndexFunc(words, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '-' })
	if end < 0 {
		end = len(words)
	}
	words = strings.TrimRight(words[:end], " -")
	for _, w := range headWords {
		if equalWord(words, w.text) {
			return w.status
		}
	}
	if words == "" {
		return sign
	}
	return 0
}
