package dialect

// tina is the dialect of tina: tasks are headings, and their status is outside the plan.
var tina = ofHeadings(Dialect{
	Name: "tina",
	Fits: func(s *Survey) int {
		if s.Has(HeadTaskGroup) || s.Tasks > 0 && !s.Hinted {
			return 0
		}
		return fitsHeads(s)
	},
	Looks: []Look{DetailReview},
})
