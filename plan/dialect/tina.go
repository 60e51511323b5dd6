package dialect

import "waybill/plan/lex"

// tina is the dialect of tina: tasks are headings, and their status is outside the plan.
var tina = Dialect{
	Name: "tina",
	Fits: func(s *Survey) int {
		if s.Has(HeadTaskGroup) || s.Tasks > 0 && !s.Hinted {
			return 0
		}
		return fitsHeads(s)
	},
	Looks: []Look{DetailReview},
	Label: headLabel,
	Head:  lex.TaskHead,
	Marks: superpowers.Marks,
	Boxes: twoMarks,
	Words: headWords,
	Texts: Texts{
		Usable:  spaceOrX,
		Stop:    " ",
		Missing: superpowers.Missing,
	},
	Traits: Traits{Unnumbered: true, Zero: true},
}
