package block

import (
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// FileScanner returns a scanner of one file of a folder plan: text[from:to]. It counts the lines of that file.
func FileScanner(text string, from, to int, notes *plan.Remarks) Scanner {
	s := Scanner{cursor: cursor{src: text[:to], pos: from, lf: -1, cr: -1}, Notes: notes, nextOverriding: to}
	if strings.Contains(text[from:to], commentMark) {
		s.nextOverriding = overridingFrom(text[:to], from)
	}
	if strings.HasPrefix(text[from:to], lex.BOM) {
		s.pos += len(lex.BOM)
	}
	return s
}

// Overrides reports whether a line is a comment that sets the dialect.
func Overrides(line string) bool {
	comment, ok := strings.CutPrefix(line, commentMark)
	if ok {
		_, ok = overriding(strings.TrimSuffix(comment, "-->"))
	}
	return ok
}
