package plan

// Parse reads a plan of which no more is known than its bytes, and sets its hash.
func Parse(src []byte) (*Reading, error) {
	r, err := Read(string(src), Hints{})
	if err != nil {
		return nil, err
	}
	r.Hash = Hash(src)
	return r, nil
}

// Marks returns what is written for each status of a dialect: in a box, and where an item has a word or a
// sign for its status. A dialect without a status syntax is read-only.
func Marks(dialect string) (boxes, words [Skipped + 1][]string, written bool) {
	pen, written := statusSyntaxes[dialect]
	return pen.boxes, pen.words, written
}

// PathHints returns how the paths of plans begin that are likely those of a dialect, each with that dialect.
func PathHints() (under, dialects []string) {
	for _, h := range toolFolders {
		under, dialects = append(under, h.Under), append(dialects, h.Dialect)
	}
	return under, dialects
}

// TextOf returns the lines of the source that an item is read from.
func TextOf(r *Reading, i int) string {
	text := r.lines(&r.entries[i])
	for _, more := range r.restOf(int32(i)) {
		text += r.text[more.from:more.to]
	}
	return text
}
