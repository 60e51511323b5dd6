package ledger

import (
	"slices"
	"strings"
)

// This file says what is written in a heading that has a word or a sign for the status of its task: what the
// plan has for it in another heading, and else what looks like the one that stands there.

// headMark gives the mark of a status for a heading, "" if none can stand where its own does.
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

// headMarks gives the words and signs that the headings of the plan have for a status, in their order.
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

// likeBox gives what may stand in a box at the end of a heading, nil if the mark is not one of a box.
func likeBox(mark string, status Status) []string {
	if trim(mark) != "" && !equalWord(mark, "x") {
		return nil
	}
	return []string{[...]string{Pending: " ", Completed: "x", Skipped: ""}[status]}
}

// likeHead gives the words and signs of a status that look like another mark, in the order of preference.
func likeHead(mark string, status Status) []string {
	var look style
	look.read(mark)
	var tries []string
	for _, word := range headPen[status] {
		switch {
		case status == Pending:
		case !isUpper(word[0]): // a sign
			tries = append(tries, word)
		case look.kind == styleSign:
		default:
			tries = append(tries, look.spell(strings.ToLower(word)))
		}
	}
	return tries
}

// fitsHead reports whether the heading says the status with the mark, and everything else as before.
func (r *Reading) fitsHead(e *entry, mark string, status Status) bool {
	before, after := r.headOf(r.lines(e)), r.headOf(r.text[e.from:e.mark]+mark+r.text[e.markEnd:e.to])
	return after.said.status == status && after.title == before.title && after.id == before.id
}

// headOf reads the heading that a text begins with.
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
