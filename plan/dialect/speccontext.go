package dialect

import (
	"fmt"

	"waybill/plan"
)

// specContext is the dialect of spec-context-mcp, and of every plan with numbers that nothing else speaks for.
var specContext = Dialect{
	Name:    "spec-context",
	Fits:    fitsNumbers,
	Looks:   []Look{FieldPrompt, FieldLeverage},
	Folders: []string{".spec-context/"},
	Marks: []Meaning{{"-", plan.InProgress, ""}, {"~", plan.Pending, fmt.Sprintf(`the mark "~" has no meaning in %s and means blocked in %s, so the item is open: `+
		"add a _Blocked: reason_ line or use another mark", "spec-context", "spec-workflow")}},
	Boxes: threeMarks,
	Texts: Texts{
		Usable:  spaceXDash,
		Wanted:  wantNumber,
		Missing: "no checkbox outside fences and comments has a number after it",
		Stop:    ". ",
	},
	Traits: Traits{Anywhere: true},
}

// fitsNumbers returns how many checkboxes have a number. In the folder of a tool, the others belong to it as well.
func fitsNumbers(s *Survey) int {
	if s.Hinted {
		return s.Numbered + s.Unnumbered
	}
	return s.Numbered
}
