package output

import (
	"iter"
	"strings"
	"unicode"

	"golang.org/x/text/width"

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
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth: // the characters of East Asia, and pictures
		return 2
	case width.Neutral, width.EastAsianAmbiguous, width.EastAsianNarrow, width.EastAsianHalfwidth:
	}
	return 1
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
