package plan

import (
	"slices"
	"strings"
)

// This file chooses the new text for the status cell of a row: a text that the column already uses, or one in its
// style.

// cellMark returns the text of a status for a row, or "" if the cell cannot express it.
func (r *Reading) cellMark(i int32, status Status) string {
	used, look := r.column(i)
	tries := append(used[status], look.write(status)...)
	own := look
	own.read(r.text[r.entries[i].mark:r.entries[i].markEnd])
	for _, mark := range append(tries, own.write(status)...) {
		if mark != "" && r.fits(i, mark, status) {
			return mark
		}
	}
	return ""
}

// column returns the texts that the table of a row uses for each status, and the style of the first of them.
func (r *Reading) column(i int32) (used statusSigns, look style) {
	start := r.tableOf(&r.entries[i]).start
	n := r.legendReader()
	for k := range r.entries {
		e := &r.entries[k]
		mark := r.text[e.mark:e.markEnd]
		if mark == "" || e.withdrawn || r.tableOf(e).start != start {
			continue
		}
		state := stateOf(mark)
		if status, known := n.cellSays(&state); !known || status != e.status || slices.Contains(used[status], mark) {
			continue
		}
		if look.kind == styleNone {
			look.read(mark)
		}
		if !later(mark) {
			used[e.status] = append(used[e.status], mark)
		}
	}
	return used, look
}

// later reports whether a text means that work is past its beginning. Such a text does not suit an item that is only
// set in progress.
func later(mark string) bool {
	mark = strings.ToLower(mark)
	return strings.Contains(mark, "review") || strings.Contains(mark, "testing")
}

// legendReader returns a parser that can read the legends of the text.
func (r *Reading) legendReader() *numbered {
	return &numbered{scanner: scanner{cursor: cursor{src: r.text}}, g: r.grammar}
}

// fits reports whether the row has the status after the change, and is otherwise unchanged.
func (r *Reading) fits(i int32, mark string, status Status) bool {
	e := &r.entries[i]
	g := grid{table: r.tableOf(e)}
	before := g.stateIn(r.lines(e))
	after := g.stateIn(r.text[e.from:e.mark] + mark + r.text[e.markEnd:e.to])
	means, known := r.legendReader().cellSays(&after)
	return known && means == status && before.rest == after.rest
}

// stateIn reads the status cell of a row.
func (g *grid) stateIn(text string) state {
	row := line{text: text}
	row.measure()
	g.cells = cells(text, row.body, g.cells[:0])
	return g.state(text)
}

// style is the look of the texts in a status column.
type style struct {
	kind styleKind
	word string // a mark that is a word
}

type styleKind uint8

const (
	styleNone styleKind = iota
	styleWord
	styleSign
	styleBoth // a sign and a word
	styleBox
)

// read derives the style from a text of the column.
func (f *style) read(mark string) {
	sign, word := 0, mark
	for _, s := range stateSigns {
		if rest, ok := strings.CutPrefix(mark, s.sign); ok {
			word = trim(strings.TrimPrefix(rest, selector))
			sign = len(mark) - len(word)
		}
	}
	switch {
	case mark == "":
	case mark[0] == '[':
		f.kind = styleBox
	case sign == 0:
		f.kind, f.word = styleWord, word
	case word == "":
		f.kind = styleSign
	default:
		f.kind, f.word = styleBoth, word
	}
}

// writtenSigns are the signs that this package writes.
var writtenSigns = [...]string{Pending: "⬜", InProgress: "⏳", Completed: "✅", Blocked: "⛔", Skipped: "⏭"}

// write returns the texts of a status in a style, in order of preference.
func (f *style) write(status Status) []string {
	word := statusSyntaxes[tabular].words[status][0]
	switch f.kind {
	case styleNone:
		return []string{word}
	case styleWord:
		return []string{f.spell(word)}
	case styleSign:
		return []string{writtenSigns[status]}
	case styleBoth:
		return []string{writtenSigns[status] + " " + f.spell(word), writtenSigns[status]}
	case styleBox:
		return []string{[...]string{Pending: "[ ]", Completed: "[x]", Skipped: ""}[status]}
	}
	return nil
}

// spell writes a word in the case and with the separators of the column: "In Progress" next to "To Do", "IN_PROGRESS"
// next to "FOR_REVIEW".
func (f *style) spell(word string) string {
	for _, gap := range [...]string{"_", "-"} {
		if strings.Contains(f.word, gap) {
			word = strings.ReplaceAll(word, " ", gap)
		}
	}
	first := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	switch _, second, several := strings.Cut(f.word, " "); {
	case f.word == strings.ToLower(f.word):
		return word
	case len(f.word) > 1 && f.word == strings.ToUpper(f.word):
		return strings.ToUpper(word)
	case several && second != "" && isUpper(second[0]):
		one, two, _ := strings.Cut(word, " ")
		if two != "" {
			return first(one) + " " + first(two)
		}
	}
	return first(word)
}
