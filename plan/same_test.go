package plan_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
)

// meaning is what a text says, without where its bytes stand.
type meaning struct {
	dialect     string
	evidence    []plan.Evidence
	items       []plan.Item
	diagnostics []plan.Diagnostic
	totals      plan.Totals
	active      string
	checkboxes  int
	refusal     string
}

func meaningOf(t require.TestingT, text string) meaning {
	r, err := readBytes([]byte(text))
	if err != nil {
		var refusal *plan.ParseError
		require.True(t, errors.As(err, &refusal))
		// What it quotes of the text stands there as it was written.
		said := strings.ReplaceAll(refusal.Error(), `\u00a0`, " ")
		return meaning{refusal: said, checkboxes: refusal.Checkboxes, diagnostics: refusal.Diagnostics}
	}
	m := meaning{
		dialect: r.Dialect, evidence: r.Evidence, diagnostics: r.Diagnostics,
		totals: r.Totals, active: r.Active(), checkboxes: r.Checkboxes,
	}
	for _, it := range r.Items() {
		it.Mark = plan.Span{}
		// A prompt and a detail are text: the white space in them is kept as it was written.
		it.Prompt = strings.ReplaceAll(it.Prompt, "\u00a0", " ")
		for i, detail := range it.Details {
			it.Details[i] = blanks.ReplaceAllString(detail, " ")
		}
		m.items = append(m.items, it)
	}
	return m
}

// withoutColumns is for spellings that change how wide a line is.
func (m meaning) withoutColumns() meaning {
	diagnostics := m.diagnostics
	m.diagnostics = nil
	for _, d := range diagnostics {
		d.Column = 0
		m.diagnostics = append(m.diagnostics, d)
	}
	return m
}

var (
	blanks    = regexp.MustCompile(`[ \t\x{a0}]+`)
	indent    = regexp.MustCompile(`(?m)^ +`)
	structure = regexp.MustCompile(`(?m)^( *(?:[-*+]|[0-9]+[.)])) \[( ?)\](\*?) `)
	finalEnd  = regexp.MustCompile(`\n\z`)
)

// spellings are other ways to write the same text.
var spellings = []struct {
	name  string
	write func(string) string
}{
	{"crlf", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
	{"lone cr", func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }},
	{"mixed line ends", func(s string) string { return strings.Replace(s, "\n", "\r\n", 3) }},
	{"bom", func(s string) string { return "\ufeff" + s }},
	{"bom and crlf", func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") }},
	{"no final newline", func(s string) string { return finalEnd.ReplaceAllString(s, "") }},
	{"trailing blanks", func(s string) string { return strings.ReplaceAll(s, "\n", " \t\n") }},
	{"tabs", func(s string) string {
		return indent.ReplaceAllStringFunc(s, func(blanks string) string { return strings.ReplaceAll(blanks, "    ", "\t") })
	}},
	{"no-break spaces", func(s string) string {
		s = structure.ReplaceAllStringFunc(s, func(box string) string { return strings.ReplaceAll(box, " ", "\u00a0") })
		return indent.ReplaceAllStringFunc(s, func(blanks string) string { return strings.ReplaceAll(blanks, " ", "\u00a0") })
	}},
}

// Line ends, byte order marks, tabs, trailing blanks and no-break spaces come
// from editors and copied pages; none of them is meant to say anything.
func TestFaultF7_OtherSpellingsOfWhiteSpaceReadTheSame(t *testing.T) {
	for _, spelling := range spellings {
		t.Run(spelling.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := drawText(t) + "\n"
				want := meaningOf(t, text).withoutColumns()
				require.Equal(t, want, meaningOf(t, spelling.write(text)).withoutColumns(), "%q", spelling.write(text))
			})
		})
	}
}
