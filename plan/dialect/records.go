package dialect

import "waybill/plan"

// The dialects of this file are not lists: each task is a file, or an element of one. plan/record reads them.

var backlog = Dialect{
	Name: "backlog",
	Words: Signs{
		plan.Pending: {"To Do", "to do", "To do", "todo", "Todo"}, plan.InProgress: {"In Progress", "in progress", "In progress", "in-progress"},
		plan.Completed: {"Done", "done", "completed"}, plan.Blocked: {"", "Blocked", "blocked"},
	},
	Texts: Texts{
		Usable:  "To Do, In Progress or Done",
		Missing: `no front matter with "id" and "status"`,
	},
	Traits: Traits{Records: true},
}

var taskMaster = Dialect{
	Name: "task-master",
	Words: Signs{
		plan.Pending: {"pending"}, plan.InProgress: {"in-progress"}, plan.Completed: {"done", "completed"}, plan.Blocked: {"blocked"},
		plan.Skipped: {"cancelled", "deferred"},
	},
	Texts: Texts{
		Usable:  "pending, in-progress, review, done, deferred, cancelled or blocked",
		Missing: `no JSON with tasks in a list "tasks", and no line "# Task ID: 7"`,
	},
	Traits: Traits{Records: true},
}

var ccpmFiles = Dialect{
	Name:  "ccpm-files",
	Words: Signs{plan.Pending: {"open"}, plan.InProgress: {"in-progress"}, plan.Completed: {"closed", "completed"}},
	Texts: Texts{
		Usable:  "open, in-progress or closed",
		Missing: `no front matter with "status" and "depends_on", "parallel" or "conflicts_with"`,
	},
	Traits: Traits{Records: true},
}

// gsd plans do not record progress, so they are read-only.
var gsd = Dialect{
	Name: "gsd",
	Texts: Texts{
		Missing: `no element <task> at the beginning of a line`,
	},
	Traits: Traits{Records: true},
}
