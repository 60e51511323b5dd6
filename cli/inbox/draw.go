package inbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"waybill/cli/output"
	"waybill/engine/inbox"
	"waybill/internal/safetext"
)

// A frame is one picture of the screen: lines that fit it, and where the cursor is.
type frame struct {
	lines    []string
	row, col int // of the cursor, from 0; row is -1 if it is hidden
}

// A canvas is the size of the screen, and how it shows styles.
type canvas struct {
	width, height int
	style         func(code string) func(string) string
	now           time.Time
}

// leastHeight is the height of a screen for the list and the entry. A lower one shows the end of the frame.
const leastHeight = 8

// draw returns the picture of a model.
func (m *model) draw(c canvas) frame {
	if m.mode == helping {
		lines := []string{c.style("1")(output.Fit("waybill inbox: keys", c.width)), ""}
		for _, line := range helpLines {
			lines = append(lines, output.Fit(line, c.width))
		}
		return c.fit(lines, frame{row: -1})
	}
	height := max(c.height, leastHeight)
	below, f := m.entryPane(c, height/2)
	rows := height - 3 - len(below) // without the title, the rule and the footer
	lines := append([]string{c.style("1")(output.Fit(summary(m.all), c.width))}, m.rows(c, rows)...)
	for len(lines) < 1+rows {
		lines = append(lines, "")
	}
	lines = append(lines, c.style("2")(strings.Repeat("─", c.width)))
	if f.row >= 0 {
		f.row += len(lines)
	}
	return c.fit(append(append(lines, below...), c.footer(m)), f)
}

// fit cuts a picture to the height of the screen, keeping its end.
func (c canvas) fit(lines []string, f frame) frame {
	if over := len(lines) - c.height; over > 0 {
		lines = lines[over:]
		f.row = max(-1, f.row-over)
	}
	f.lines = lines
	return f
}

// rows returns the part of the list around the chosen entry.
func (m *model) rows(c canvas, n int) (lines []string) {
	top := max(0, min(m.chosen-n/2, len(m.all.Entries)-n))
	for i, e := range m.all.Entries[top:min(len(m.all.Entries), top+n)] {
		kind, mark := words[e.Kind], "  "
		text := fmt.Sprintf("%4s  %s  %s", age(e, c.now), m.names[e.Place.ID], safetext.Printable(e.Title))
		if e.Kind == inbox.Question {
			text += ": " + safetext.Printable(e.Text)
		}
		text = output.Fit(text, max(1, c.width-wordWidth-4))
		word := output.Left(kind.word, wordWidth)
		if top+i == m.chosen {
			mark = "> "
			lines = append(lines, c.style("7")(mark+word+"  "+output.Left(text, c.width-wordWidth-4)))
			continue
		}
		lines = append(lines, mark+c.style(kind.style)(word)+"  "+text)
	}
	return lines
}

// entryPane returns the lines about the chosen entry or the one that is answered, at most n, and where the cursor is.
func (m *model) entryPane(c canvas, n int) ([]string, frame) {
	e, ok := m.entry()
	if m.mode == answering {
		e, ok = m.about, true
	}
	if !ok {
		return []string{"Nothing is here. New entries appear by themselves."}, frame{row: -1}
	}
	head := c.style("1")(output.Fit(safetext.Printable(e.Title)+"  "+safetext.Printable(e.Place.Root), c.width))
	var answer []string
	f := frame{row: -1}
	if m.mode == answering {
		answer, f = m.written().draw(c.width, max(1, n/2-1))
	}
	text := slices.Collect(second(output.Pieces(strings.Join(append([]string{e.Text}, optionsOf(e)...), "\n"), c.width-2)))
	room := max(1, n-1-len(answer)-1)
	m.scroll = max(0, min(m.scroll, len(text)-room))
	lines := []string{head}
	for i, line := range text[m.scroll:min(len(text), m.scroll+room)] {
		if i == room-1 && m.scroll+room < len(text) {
			line = output.Fit(fmt.Sprintf("… %s more: space scrolls", output.Count(len(text)-m.scroll-room+1, "line")), c.width-2)
		}
		lines = append(lines, "  "+line)
	}
	if m.mode == answering {
		f.row += len(lines)
		return append(lines, answer...), f
	}
	if e.ID != "" {
		lines = append(lines, c.style("2")(output.Fit("  "+strings.TrimSpace(e.ID+"  "+safetext.Printable(strings.TrimSpace(e.Plan+" "+e.ItemID))), c.width)))
	}
	return lines, f
}

// second returns the second values of a sequence.
func second(pieces func(yield func(int, string) bool)) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		pieces(func(_ int, piece string) bool { return yield(piece) })
	}
}

// prompt begins the first line of an answer; the others are indented by as much.
const prompt = "❯ "

// draw returns the last lines of a draft up to the one with the cursor, at most n.
func (d *draft) draw(width, n int) ([]string, frame) {
	inner := max(4, width-output.Columns(prompt)-1)
	var lines []string
	row, col := 0, 0
	line := ""
	for i, r := range append(slices.Clone(d.text), '\n') {
		if i == d.cursor {
			row, col = len(lines), output.Columns(line)
		}
		shown := safetext.Printable(string(r))
		if r == '\n' || output.Columns(line)+output.Columns(shown) > inner {
			lines = append(lines, line)
			line = ""
			if i == d.cursor && r != '\n' {
				row, col = len(lines), 0
			}
		}
		if r != '\n' {
			line += shown
		}
	}
	top := max(0, min(row-n+1, len(lines)-n))
	for i := range lines {
		lines[i] = strings.Repeat(" ", output.Columns(prompt)) + lines[i]
	}
	lines[0] = prompt + strings.TrimPrefix(lines[0], strings.Repeat(" ", output.Columns(prompt)))
	return lines[top:min(len(lines), top+n)], frame{row: row - top, col: col + output.Columns(prompt)}
}

// footer returns the last line: an answer to the last key, or the keys that have a meaning now.
func (c canvas) footer(m *model) string {
	keys := "↑↓ choose  ? keys  q quit"
	if e, ok := m.entry(); ok && m.mode == listing {
		for _, action := range slices.Backward(e.Actions) {
			keys = keysOfActions[action] + " " + string(action) + "  " + keys
		}
	}
	if m.mode == answering {
		keys = "Enter sends  Ctrl+J new line  Esc back"
		if len(m.about.Options) > 0 {
			keys = "a number takes an option  " + keys
		}
	}
	if m.said != "" {
		return c.style("1")(output.Fit(m.said, c.width))
	}
	return c.style("2")(output.Fit(keys, c.width))
}

var helpLines = []string{
	"  ↑ ↓  j k       choose an entry; PgUp and PgDn move by ten, g and G to the ends",
	"  Enter          the action that moves the entry on",
	"  a              answer a question; Enter sends, Ctrl+J or Alt+Enter starts a line",
	"  1 to 9         take an option of the question; Enter sends it",
	"  r              retry a failed task",
	"  u              unblock a run, after its cause was solved",
	"  x              cancel the task of a question, or a standing instruction",
	"  d              dismiss a failure or a report: take note of it",
	"  space  b       scroll the text of the entry",
	"  q  Esc         quit",
	"",
	"  Any key goes back.",
}
