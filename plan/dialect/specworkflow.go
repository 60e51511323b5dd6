package dialect

import "waybill/plan"

// specWorkflow is the dialect of spec-workflow-mcp: that of spec-context with blocked items.
var specWorkflow = Dialect{
	Name: "spec-workflow",
	Fits: func(s *Survey) int {
		if s.Hinted || s.Has(FieldBlocked) {
			return fitsNumbers(s)
		}
		return 0
	},
	Looks:   []Look{FieldBlocked},
	Folders: []string{".spec-workflow/"},
	Marks:   []Meaning{{"-", plan.InProgress, ""}, {"~", plan.Blocked, ""}},
	Boxes:   Signs{plan.Pending: {" "}, plan.InProgress: {"-"}, plan.Completed: {"x", "X"}, plan.Blocked: {"~"}},
	Texts: Texts{
		Usable:  spaceXDash,
		Wanted:  wantNumber,
		Missing: specContext.Missing,
		Stop:    ". ",
	},
	Traits: Traits{Anywhere: true},
}
