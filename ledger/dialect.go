package ledger

import (
	"fmt"
	"unicode/utf8"
)

// A family is one grammar with the dialects that share it. Parse tries the
// families in order, and the first that finds an item reads the file. Another
// grammar is another row.
var families = [...]family{
	{dialects: []string{specContext, specWorkflow, kiro}, read: readNumbered, describe: describeNumbered},
}

type family struct {
	dialects []string
	// read returns what the file says. A reading without items also says why
	// there are none.
	read func(text string) (r *Reading, none string)
	// describe adds what the lines of an item say to what its entry does.
	describe func(r *Reading, i int32, it *Item)
}

const (
	specContext  = "spec-context"
	specWorkflow = "spec-workflow"
	kiro         = "kiro"
)

// Parse reads a plan. The result depends on src alone. The error is a
// *ParseError: the bytes are no UTF-8 text, or a file that is not blank has no
// item in any dialect. A blank file is a reading without items.
func Parse(src []byte) (*Reading, error) {
	r, err := Read(string(src))
	if err != nil {
		return nil, err
	}
	r.Hash = Hash(src)
	return r, nil
}

// Read is Parse without the hash of the source, for a caller who finds it out
// at the same time. The reading shares the memory of the text.
func Read(text string) (*Reading, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	var tried []Attempt
	var last *Reading
	for i, f := range families {
		r, none := f.read(text)
		if r.Len() > 0 || isBlank(text) {
			r.text, r.family, r.Size = text, int8(i), int64(len(text))
			return r, nil
		}
		for _, name := range f.dialects {
			tried = append(tried, Attempt{Dialect: name, Reason: none})
		}
		last = r
	}
	return nil, &ParseError{
		Reason:     ReasonNoItems,
		Message:    `no task was found: a task is a line such as "- [ ] 1.2 Write the report"`,
		Checkboxes: last.Checkboxes, Tried: tried, Diagnostics: last.Diagnostics,
	}
}

func isBlank(text string) bool {
	c := newCursor(text)
	for {
		start, end, ok := c.next()
		if !ok {
			return true
		}
		if skipBlanks(text[:end], start) < end {
			return false
		}
	}
}

// signal is something in a numbered plan that points to one of its dialects.
type signal uint8

const (
	signalBlocked signal = iota
	signalPrompt
	signalLeverage
	signalStar
	signalGraph
	signalProperty
	signalHeading
	signals
)

// signalTable is in the order of strength: the first signal that a file has decides.
var signalTable = [signals]struct{ dialect, text string }{
	signalBlocked:  {specWorkflow, "_Blocked: field"},
	signalPrompt:   {specContext, "_Prompt: field"},
	signalLeverage: {specContext, "_Leverage: field"},
	signalStar:     {kiro, "star behind a box"},
	signalGraph:    {kiro, "heading Task Dependency Graph"},
	signalProperty: {kiro, "**Property detail"},
	signalHeading:  {kiro, "heading Implementation Plan"},
}

// sightings holds the first line of each signal, 0 for none.
type sightings [signals]int

func (s *sightings) see(sig signal, line int) {
	if s[sig] == 0 {
		s[sig] = line
	}
}

// decide names the dialect and the reasons. A file without any signal is read
// as the plainest of the three; all agree about every mark but "~".
func (s *sightings) decide(firstItem int) (dialect string, evidence []Evidence) {
	dialect = specContext
	for sig := signals; sig > 0; sig-- {
		if s[sig-1] > 0 {
			dialect = signalTable[sig-1].dialect
		}
	}
	evidence = append(evidence, Evidence{Line: firstItem, Dialect: dialect, Signal: "numbered checkbox"})
	for sig, line := range s {
		if line > 0 {
			evidence = append(evidence, Evidence{Line: line, Dialect: signalTable[sig].dialect, Signal: signalTable[sig].text})
		}
	}
	return dialect, evidence
}

// tilde is what the mark "~" means in a dialect, and the warning that goes with it.
func tilde(dialect string) (Status, string) {
	if dialect == specWorkflow {
		return Blocked, ""
	}
	if dialect == kiro {
		return Pending, `the mark "~" is queued or partial work in kiro, so the item is open`
	}
	return Pending, fmt.Sprintf(`the mark "~" means nothing in %s and blocked in %s, so the item is open: `+
		"add a _Blocked: reason_ line or use another mark", specContext, specWorkflow)
}

// diagnose describes the place at the index in the line.
func diagnose(ln *line, index int, severity Severity, code, message string) Diagnostic {
	column := utf8.RuneCountInString(ln.text[:index]) + 1
	return Diagnostic{Line: ln.number, Column: column, Severity: severity, Code: code, Message: message}
}
