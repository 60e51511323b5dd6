package output

import (
	"math"
	"strings"

	"waybill/internal/lazy"
	"waybill/internal/safetext"
)

// A Column is one column of a table. The last one has the room that the others leave.
type Column struct {
	Head  string
	Right bool // numbers
	ID    bool // an id: its end on a terminal, and whole in a pipe
	State bool // a word that has a colour
	From  int  // the least width of a terminal that shows it
	Most  int  // the most columns that it takes on a terminal; 0 means any number
}

// stateColours maps the words for states to the ANSI styles of their colours.
var stateColours = lazy.Value[map[string]string]{Of: func() map[string]string {
	colours := map[string]string{}
	for style, words := range map[string]string{
		"31": "blocked error failed refuted unreadable",
		"32": "complete done acknowledged proven",
		"33": "awaiting question missing stale untrusted",
		"34": "running sent delivered",
		"2":  "cancelled gone said",
	} {
		for word := range strings.FieldsSeq(words) {
			colours[word] = style
		}
	}
	return colours
}}

// State returns the word for a state in its colour.
func (p *Printer) State(word string) string {
	bare, _, _ := strings.Cut(strings.TrimSpace(word), " ")
	if style, ok := stateColours.Get()[bare]; ok {
		return p.Style(style)(word)
	}
	return word
}

// shownOfID is how many characters of the end of an id a terminal shows. Commands take ids that are shortened like this.
const shownOfID = 8

// ShortID returns the end of an id. Ids that hosts chose stay whole.
func ShortID(id string) string {
	if _, bare, found := strings.Cut(id, "_"); found && len(bare) > 2*shownOfID {
		return id[len(id)-shownOfID:]
	}
	return id
}

// Table returns rows as lines. On a terminal they fit its width, below a line with the heads; in a pipe no cell is cut.
func (p *Printer) Table(columns []Column, rows [][]string) string {
	return p.table(columns, rows, p.LineWidth())
}

func (p *Printer) table(columns []Column, rows [][]string, room int) string {
	terminal, last := room < math.MaxInt, len(columns)-1
	widths := make([]int, len(columns))
	for i, c := range columns[:last] {
		if terminal {
			widths[i] = Columns(c.Head)
		}
		for _, row := range rows {
			row[i] = safetext.Printable(row[i])
			if c.ID && terminal {
				row[i] = ShortID(row[i])
			}
			widths[i] = max(widths[i], Columns(row[i]))
		}
		switch {
		case terminal && room < c.From:
			widths[i] = 0
		case terminal && c.Most > 0:
			widths[i] = min(widths[i], c.Most)
		}
		if widths[i] > 0 {
			room -= widths[i] + len(gap)
		}
	}
	widths[last] = max(room, 1)
	var b strings.Builder
	if terminal && len(rows) > 0 {
		heads := make([]string, len(columns))
		for i, c := range columns {
			heads[i] = c.Head
		}
		b.WriteString(p.Style("1")(p.line(columns, widths, heads, false)) + "\n")
	}
	for _, row := range rows {
		row[last] = safetext.Printable(row[last])
		b.WriteString(p.line(columns, widths, row, true) + "\n")
	}
	return b.String()
}

const gap = "  "

func (p *Printer) line(columns []Column, widths []int, cells []string, coloured bool) string {
	var parts []string
	for i, c := range columns {
		if widths[i] == 0 {
			continue
		}
		cell := Fit(cells[i], widths[i])
		switch {
		case i == len(columns)-1:
		case c.Right:
			cell = Right(cell, widths[i])
		default:
			cell = Left(cell, widths[i])
		}
		if c.State && coloured {
			cell = p.State(cell)
		}
		parts = append(parts, cell)
	}
	return strings.TrimRight(strings.Join(parts, gap), " ")
}
