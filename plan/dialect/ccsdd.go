package dialect

import (
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// ccSDD is the dialect of cc-sdd: numbered plans with "(P)" next to the title.
var ccSDD = Dialect{
	Name: "cc-sdd",
	Fits: func(s *Survey) int {
		parallel := s.Has(BoxParallel) && !s.Outnumbered()
		if s.Hinted || !s.Has(FieldBlocked, FieldPrompt, FieldLeverage) && (parallel || s.Has(FieldBoundary)) {
			return fitsNumbers(s)
		}
		return 0
	},
	Looks: []Look{BoxParallel, FieldBoundary, BoxStruck},
	Label: func(text string, l *Label) {
		l.ID, l.Title, l.Tight = lex.ReadLabel(text)
		l.Title, l.Parallel = cutParallel(l.Title)
	},
	Marks: []Meaning{
		{"-", plan.InProgress, ""},
		{"~", plan.Pending, `the mark "~" means queued or partial work in cc-sdd, so the item is open`},
	},
	Boxes: threeMarks,
	Texts: Texts{
		Usable:  spaceXDash,
		Wanted:  wantNumber,
		Stop:    " ",
		Missing: "no \"(P)\" beside a title and no _Boundary: field",
	},
}

// cutParallel removes "(P)" from either end of a title. In the middle, it is ordinary text.
func cutParallel(title string) (rest string, parallel bool) {
	const tag = "(P)"
	if rest, ok := strings.CutPrefix(title, tag); ok && lex.Ends(rest, 0) {
		return lex.Trim(rest), true
	}
	if rest, ok := strings.CutSuffix(title, tag); ok && (rest == "" || lex.BlankAt(rest, len(rest)-1) > 0) {
		return lex.Trim(rest), true
	}
	return title, false
}

// HasParallel reports whether a title has "(P)" at either end.
func HasParallel(title string) bool {
	_, parallel := cutParallel(title)
	return parallel
}
