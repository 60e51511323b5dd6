package dialect

import "waybill/plan"

// table is the dialect of tables of tasks, which have a column of ids and one of statuses. In a plan with checkboxes,
// such a table is a summary. The statuses that the column already uses take precedence over Words.
var table = Dialect{
	Name: "table",
	Fits: func(s *Survey) int {
		if s.Numbered+s.Coded+s.Count[BoxTaskID] == 0 && s.Count[Row] > s.Unnumbered {
			return s.Count[Row]
		}
		return 0
	},
	Looks: []Look{Row},
	Label: func(text string, l *Label) { l.Title = text },
	Words: Signs{plan.Pending: {"todo"}, plan.InProgress: {"in progress"}, plan.Completed: {"done"}, plan.Blocked: {"blocked"}, plan.Skipped: {"skipped"}},
	Texts: Texts{
		Usable:  "a word such as todo, in progress, done, blocked or skipped",
		Stop:    " ",
		Wanted:  "the tasks of this plan are the rows of its table: add one to make it a task",
		Missing: "no table outside fences and comments with an id and a status in its header",
	},
	Traits: Traits{Rows: true, Anywhere: true},
}
