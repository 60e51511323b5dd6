package ledger

// Marks gives what is written for each status of a dialect: in a box, and where an item has a word or a
// sign for its status. Nothing is written in a dialect without a pen.
func Marks(dialect string) (boxes, words [Skipped + 1][]string, written bool) {
	pen, written := pens[dialect]
	return pen.boxes, pen.words, written
}

// PathHints gives how the paths of plans begin that are likely those of a dialect, each with that dialect.
func PathHints() (under, dialects []string) {
	for _, h := range hints {
		under, dialects = append(under, h.Under), append(dialects, h.Dialect)
	}
	return under, dialects
}

// TextOf gives the lines of the source that an item is read from.
func TextOf(r *Reading, i int) string {
	text := r.lines(&r.entries[i])
	for _, more := range r.restOf(int32(i)) {
		text += r.text[more.from:more.to]
	}
	return text
}
