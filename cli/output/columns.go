package output

import (
	"iter"
	"strings"
	"unicode"

	"waybill/internal/safetext"
)

// Text is laid out in columns of the terminal: most characters take one, some two, and
// marks that sit on another character none. All texts here have gone through safetext.Printable.

const (
	PipeWidth   = 80 // of a page that goes into a pipe or a file
	LeastWidth  = 40 // narrower terminals break lines themselves
	Gutter      = "  │ "
	quotedLines = 24 // of a text of others; --json has all of it
)

// Columns counts the columns that a text takes.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += RuneColumns(r)
	}
	return n
}

func RuneColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(doubleWidth, r):
		return 2
	}
	return 1
}

// doubleWidth has the characters that are two columns wide on a terminal: East Asian characters and pictures.
var doubleWidth = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x231a, 0x231b, 1},
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f0, 1},
		{0x23f3, 0x23f3, 1},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x267f, 1},
		{0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26ce, 0x26ce, 1},
		{0x26d4, 0x26d4, 1},
		{0x26ea, 0x26ea, 1},
		{0x26f2, 0x26f3, 1},
		{0x26f5, 0x26f5, 1},
		{0x26fa, 0x26fa, 1},
		{0x26fd, 0x26fd, 1},
		{0x2705, 0x2705, 1},
		{0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1},
		{0x274c, 0x274c, 1},
		{0x274e, 0x274e, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2795, 0x2797, 1},
		{0x27b0, 0x27b0, 1},
		{0x27bf, 0x27bf, 1},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b50, 1},
		{0x2b55, 0x2b55, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff01, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18cff, 1},
		{0x1b000, 0x1b2ff, 1},
		{0x1f004, 0x1f004, 1},
		{0x1f0cf, 0x1f0cf, 1},
		{0x1f18e, 0x1f18e, 1},
		{0x1f191, 0x1f19a, 1},
		{0x1f1e6, 0x1f202, 1},
		{0x1f210, 0x1f23b, 1},
		{0x1f240, 0x1f248, 1},
		{0x1f250, 0x1f251, 1},
		{0x1f260, 0x1f265, 1},
		{0x1f300, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7eb, 1},
		{0x1f90c, 0x1f9ff, 1},
		{0x1fa70, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// Cut returns where a text has to end to take at most n columns. It looks no further than there, because
// texts can be a million times as long as a line.
func Cut(text string, n int) int {
	for i, r := range text {
		if n -= RuneColumns(r); n < 0 {
			return i
		}
	}
	return len(text)
}

// Fit cuts a text to at most n columns, with a mark where it was cut; n is at least 1.
func Fit(text string, n int) string {
	if Cut(text, n) == len(text) {
		return text
	}
	return text[:Cut(text, n-1)] + "…"
}

// Left fills a text up to n columns, right puts it at the end of them.
func Left(text string, n int) string { return text + strings.Repeat(" ", max(0, n-Columns(text))) }

func Right(text string, n int) string { return strings.Repeat(" ", max(0, n-Columns(text))) + text }

// Quote sets a text of others apart. Each line begins with a gutter, so no line can pass for one of waybill's own; a
// long text is cut after its beginning.
func Quote(text string, width int) string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return beginning(Pieces(text, width-Columns(Gutter)), 1+strings.Count(text, "\n"))
}

// beginning returns the first lines of a text and the number of omitted lines. It reads only as many pieces as that
// needs.
func beginning(pieces iter.Seq2[int, string], lines int) string {
	var b strings.Builder
	n := 0
	for line, piece := range pieces {
		if n++; n > quotedLines {
			b.WriteString(Gutter + "… " + Count(lines-line, "line") + " more; --json has all of it\n")
			break
		}
		b.WriteString(strings.TrimRight(Gutter+piece, " ") + "\n")
	}
	return b.String()
}

// Pieces splits a text into pieces of at most n columns, each with its line number.
func Pieces(text string, n int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.SplitSeq(text, "\n") {
			for piece := range Wrap(safetext.Printable(line), n) {
				if !yield(number, piece) {
					return
				}
			}
			number++
		}
	}
}

// Wrap breaks a line into lines of at most n columns, between words where that is possible; n is at
// least 2. Each is made when it is asked for.
func Wrap(line string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := Cut(line, n)
			if at == len(line) {
				yield(line)
				return
			}
			if space := strings.LastIndexByte(line[:at+1], ' '); space > 0 {
				at = space
			}
			if !yield(line[:at]) {
				return
			}
			line = strings.TrimPrefix(line[at:], " ")
		}
	}
}

// Diff returns a unified difference that is safe on a terminal, with the styles for its lines.
func Diff(text string, style func(code string) func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = safetext.Printable(strings.TrimSuffix(line, "\n"))
		if code := diffColours[line[:min(1, len(line))]]; code != "" {
			line = style(code)(line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// diffColours maps the first character of a line to its colour.
var diffColours = map[string]string{"+": "32", "-": "31", "@": "36"}
