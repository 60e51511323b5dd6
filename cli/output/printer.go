// Package output prints: plain text that a terminal cannot obey, JSON, columns, colours, times and errors with their
// exit codes. It refuses to know what is printed.
package output

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"golang.org/x/term"

	"waybill/internal/safetext"
	"waybill/schema"
)

// Streams are the standard streams of the process.
type Streams struct{ In, Out, Err *os.File }

// A Printer writes the results of a command as text or as JSON.
type Printer struct {
	Streams
	Env     func(string) string
	JSON    bool // --json
	NoColor bool // --no-color
	NoPager bool // --no-pager
}

// PrintEach writes JSON objects, one a line.
func PrintEach[T any](p *Printer, items []T) error {
	var b strings.Builder
	for _, item := range items {
		text, err := Encode(item)
		if err != nil {
			return err
		}
		b.Write(append(text, '\n'))
	}
	_, err := p.Out.WriteString(b.String())
	return err
}

// Print writes one JSON object and a newline.
func (p *Printer) Print(v any) error {
	text, err := Encode(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "%s\n", text)
	return err
}

// PrintDocument writes a document that is JSON already.
func (p *Printer) PrintDocument(doc []byte) error {
	_, err := p.Out.Write(append(doc, '\n'))
	return err
}

// Say writes a line to standard error. If even that is closed, the line is lost.
func (p *Printer) Say(line string) { _, _ = fmt.Fprintln(p.Err, line) }

// Lines are several errors of one kind, such as the mistakes in a file. Each is printed on a line of its own.
type Lines []string

func (l Lines) Error() string { return strings.Join(l, "; ") }

// Complain prints an error with its reason and its code.
func (p *Printer) Complain(err error) {
	fault := new(schema.Error)
	if lines, ok := errors.AsType[Lines](err); ok {
		for _, line := range lines {
			p.Say("waybill: " + safetext.Printable(line))
		}
		return
	}
	if !errors.As(err, &fault) {
		p.Say("waybill: " + safetext.Printable(err.Error()))
		return
	}
	if p.JSON {
		_ = p.Print(map[string]any{"error": fault})
		return
	}
	p.Say(fmt.Sprintf("waybill: %s (%s)", safetext.Printable(fault.Message), fault.Data.Code))
	if fault.Data.Hint != "" {
		p.Say("  " + safetext.Printable(fault.Data.Hint))
	}
}

// Done prints the result of a change as JSON or as a sentence.
func (p *Printer) Done(result any, format string, args ...any) error {
	if p.JSON {
		return p.Print(result)
	}
	_, err := fmt.Fprintln(p.Out, safetext.Printable(fmt.Sprintf(format, args...)))
	return err
}

// Style returns a function that adds an ANSI style to a text if the output is a terminal with colours.
func (p *Printer) Style(code string) func(string) string {
	if !p.colours() {
		return func(text string) string { return text }
	}
	return func(text string) string { return "\x1b[" + code + "m" + text + "\x1b[0m" }
}

func (p *Printer) colours() bool {
	switch {
	case p.NoColor || p.JSON || p.Env("NO_COLOR") != "":
		return false
	case p.Env("CLICOLOR_FORCE") != "" && p.Env("CLICOLOR_FORCE") != "0":
		return true
	}
	return p.Terminal()
}

// Terminal reports whether the output is a terminal.
func (p *Printer) Terminal() bool { return p.Out != nil && term.IsTerminal(int(p.Out.Fd())) }

// Width is how long a line of a page may be.
func (p *Printer) Width() int {
	if !p.Terminal() {
		return PipeWidth
	}
	width, _, err := term.GetSize(int(p.Out.Fd()))
	if err != nil || width == 0 {
		return PipeWidth
	}
	return max(width, LeastWidth)
}

// LineWidth is the longest line of an output without a terminal, such as a list in a pipe. It does not cut, because a
// reader who searches the output must find the whole text.
func (p *Printer) LineWidth() int {
	if !p.Terminal() {
		return math.MaxInt
	}
	return p.Width()
}
