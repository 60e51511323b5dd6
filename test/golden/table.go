package golden

import (
	"fmt"
	"slices"
	"strings"
)

// Table returns a table as text. Cells may have several lines.
func Table(table [][]string) string {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, text := range row {
			for line := range strings.Lines(text) {
				widths[i] = max(widths[i], len(strings.TrimRight(line, "\n")))
			}
		}
	}
	var b strings.Builder
	for _, row := range table {
		for i := range row {
			b.WriteString("+" + strings.Repeat("-", widths[i]+2))
		}
		b.WriteString("+\n" + rowLines(row, widths))
	}
	return b.String()
}

func rowLines(row []string, widths []int) string {
	cells, height := make([][]string, len(row)), 0
	for i, text := range row {
		cells[i] = strings.Split(text, "\n")
		height = max(height, len(cells[i]))
	}
	var b strings.Builder
	for n := range height {
		for i, lines := range cells {
			line := ""
			if n < len(lines) {
				line = lines[n]
			}
			fmt.Fprintf(&b, "| %-*s ", widths[i], line)
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Footnotes assigns letters to texts.
type Footnotes struct{ texts []string }

// Mark returns the letter of a text.
func (f *Footnotes) Mark(text string) string {
	i := slices.Index(f.texts, text)
	if i < 0 {
		i = len(f.texts)
		f.texts = append(f.texts, text)
	}
	return letter(i)
}

// letter returns a, b, … z, aa, bb, ….
func letter(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }

// String returns a line for each text, after its letter.
func (f *Footnotes) String() string {
	var b strings.Builder
	for i, text := range f.texts {
		fmt.Fprintf(&b, "(%s) %s\n", letter(i), text)
	}
	return b.String()
}
