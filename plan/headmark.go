package plan

import (
	"slices"
	"strings"
)

// This file chooses the new status text for a heading: a text that another heading of the plan uses, or one in the
// same style.

// headMark returns the text of a status for a heading, or "" if the heading cannot express it.
func (r *Reading) headMark(i int32, status Status) string {
	e := &r.entries[i]
	own := r.text[e.mark:e.markEnd]
	tries := append(r.headMarks(status), likeHead(own, status)...)
	if boxed := likeBox(own, status); boxed != nil {
		tries = boxed
	}
	for _, mark := range tries {
		if mark != "" && r.fitsHead(e, mark, status) {
			return mark
		}
	}
	return ""
}

// headMarks returns the words and signs for a status in the headings of the plan, in their order.
func (r *Reading) headMarks(status Status) (used []string) {
	for i := range r.entries {
		e := &r.entries[i]
		mark := r.text[e.mark:e.markEnd]
		if e.worded && e.status == status && !e.withdrawn && likeBox(mark, status) == nil && !slices.Contains(used, mark) {
			used = append(used, mark)
		}
	}
	return used
}

// likeBox returns the possible marks in a checkbox at the end of a heading, or nil if mark is not in a checkbox.
func likeBox(mark string, status Status) []string {
	if trim(mark) != "" && !equalWord(mark, "x") {
		return nil
	}
	return []string{[...]string{Pending: " ", Completed: "x", Skipped: ""}[status]}
}

// likeHead returns the words and signs of a status in the style of another mark, in order of preference.
func likeHead(mark string, status Status) []string {
	var look style
	look.read(mark)
	var tries []string
	for _, word := range headStatusSigns[status] {
		switch {
		case status == Pending:
		case !isUpper(word[0]): // a sign has no case
			tries = append(tries, word)
		case look.kind == styleSign:
		default:
			tries = append(tries, look.spell(strings.ToLower(word)))
		}
	}
	return tries
}

// fitsHead reports whether the heading has the status after the change, and is otherwise unchanged.
func (r *Reading) fitsHead(e *entry, mark string, status Status) bool {
	before, after := r.headOf(r.lines(e)), r.headOf(r.text[e.from:e.mark]+mark+r.text[e.markEnd:e.to])
	return after.said.status == status && after.title == before.title && after.id == before.id
}

// headOf parses the heading at the beginning of a text.
func (r *Reading) headOf(text string) head {
	ln := line{text: text}
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		ln.text = text[:end]
	}
	ln.text = strings.TrimPrefix(ln.text, byteOrderMark)
	ln.measure()
	m := markerAt(ln.text, ln.body)
	h, _ := r.grammar.head(headingText(&ln, &m))
	return h
}
