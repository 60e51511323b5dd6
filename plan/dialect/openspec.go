package dialect

import "waybill/plan"

// openSpec is the dialect of OpenSpec: "- [ ] 1.2 Title" below "## 1. Group", and checkboxes without number below an
// item.
var openSpec = Dialect{
	Name: "openspec",
	Fits: func(s *Survey) int {
		if s.Hinted || !s.Explicit() && s.Has(HeadGroup) {
			return fitsNumbers(s)
		}
		return 0
	},
	Looks:   []Look{HeadGroup},
	Folders: []string{"openspec/"},
	Marks:   []Meaning{{"~", plan.Pending, `openspec does not define the mark "~", so the item is open: if it means deferred, write "[~] = deferred" in a legend`}},
	Boxes:   twoMarks,
	Texts: Texts{
		Usable:  spaceOrX,
		Stop:    " ",
		Missing: "no heading such as \"## 1. Group\" with boxes such as 1.1 below it",
	},
	Traits: Traits{Unnumbered: true, Groups: true},
}
