package dialect

import (
	"waybill/plan"
	"waybill/plan/lex"
)

// kiro is the dialect of Kiro: numbered checkboxes, with a star after optional ones.
var kiro = Dialect{
	Name: "kiro",
	Fits: func(s *Survey) int {
		if s.Hinted || !s.Has(FieldPrompt, FieldLeverage, FieldBlocked) && s.Has(Star, HeadGraph, DetailProperty, HeadPlan) {
			return fitsNumbers(s)
		}
		return 0
	},
	Looks:   []Look{Star, HeadGraph, DetailProperty, HeadPlan},
	Folders: []string{".kiro/"},
	Marks: []Meaning{
		{"-", plan.InProgress, ""},
		{"~", plan.Pending, `the mark "~" means queued or partial work in kiro, so the item is open`},
	},
	Boxes: threeMarks,
	Words: headWords,
	Texts: Texts{
		Usable:  spaceXDash,
		Wanted:  wantNumber,
		Missing: specContext.Missing,
		Stop:    ". ",
	},
	Traits: Traits{Anywhere: true},
}

// kiroHeads is Kiro with numbered headings, "### 1.1 Model", and checkboxes without number below them. Any document may
// have numbered headings, so other evidence of Kiro is needed.
var kiroHeads = Dialect{
	Name: kiro.Name,
	Fits: func(s *Survey) int {
		said := s.Hinted || s.Has(HeadGraph, HeadPlan)
		if s.Numbered > 0 || !said || !s.Hinted && s.Has(FieldBlocked, FieldPrompt, FieldLeverage) {
			return 0
		}
		return 2 * s.Uncounted // a heading for each
	},
	Label: func(text string, l *Label) {
		l.Title = text
	},
	Head:  lex.NumberHead,
	Marks: kiro.Marks,
	Boxes: kiro.Boxes,
	Words: kiro.Words,
	Texts: Texts{
		Usable:  kiro.Usable,
		Stop:    " ",
		Missing: "no heading such as \"### 1.1 Model\" with boxes below it",
	},
	Traits: Traits{Unnumbered: true, NumberedHeads: true},
}
