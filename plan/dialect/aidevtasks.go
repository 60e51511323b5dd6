package dialect

// aiDev is the dialect of ai-dev-tasks, in which "1.0" is the parent of "1.1".
var aiDev = Dialect{
	Name: "ai-dev-tasks",
	Fits: func(s *Survey) int {
		if s.Hinted || !s.Explicit() && (s.Count[BoxZero] > 1 || s.Has(BoxZero) && s.Has(HeadRelevant)) {
			return fitsNumbers(s)
		}
		return 0
	},
	Looks:   []Look{BoxZero, HeadRelevant},
	Folders: []string{"tasks/tasks-"},
	Marks:   closed("ai-dev-tasks"),
	Boxes:   twoMarks,
	Texts: Texts{
		Usable:  spaceOrX,
		Wanted:  wantNumber,
		Missing: "no parents such as 1.0",
		Stop:    " ",
	},
	Traits: Traits{Zero: true},
}
