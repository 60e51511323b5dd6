package dialect

// Look is something in a plan that speaks for a dialect. The order is that of strength.
type Look uint8

// The looks.
const (
	FieldBlocked Look = iota
	FieldPrompt
	FieldLeverage
	Star
	HeadGraph
	DetailProperty
	HeadPlan
	BoxTaskID
	BoxTag
	HeadGroup
	BoxParallel
	FieldBoundary
	BoxStruck
	BoxZero
	HeadRelevant
	HeadTaskGroup
	HeadTask
	BoxStep
	HeadNumbered
	BoxAnew
	DetailReview
	BoxTrack
	HeadCheckpoint
	BoxTaskWord
	HeadSubtasks
	BoxCriteria
	BoxTaskNumber
	BoxFile
	BoxFlag
	Row
	Looks
)

// looks are the words for each look.
var looks = [Looks]string{
	FieldBlocked:   "_Blocked: field",
	FieldPrompt:    "_Prompt: field",
	FieldLeverage:  "_Leverage: field",
	Star:           "star after a box",
	HeadGraph:      "heading Task Dependency Graph",
	DetailProperty: "**Property detail",
	HeadPlan:       "heading Implementation Plan",
	BoxTaskID:      "id such as T001",
	BoxTag:         "tag [P] or [US1]",
	HeadGroup:      "heading with the number of the boxes below",
	BoxParallel:    "(P) beside a title",
	FieldBoundary:  "_Boundary: field",
	BoxStruck:      "task that is struck through",
	BoxZero:        "id such as 1.0",
	HeadRelevant:   "heading Relevant Files",
	HeadTaskGroup:  "heading such as Task Group 1",
	HeadTask:       "heading such as Task 1",
	BoxStep:        "step below a heading such as Task 1",
	HeadNumbered:   "heading such as Task 1 with 1.1 below it",
	BoxAnew:        "number 1 below a heading such as Task 1",
	DetailReview:   "**Model:**, **review:** or **Depends on:** below a heading such as Task 1",
	BoxTrack:       "Track: after a box",
	HeadCheckpoint: "[checkpoint: …] after a heading",
	BoxTaskWord:    "Task: after a box",
	HeadSubtasks:   "heading Tasks / Subtasks",
	BoxCriteria:    "(AC: …) beside a title",
	BoxTaskNumber:  "Task and a number after a box",
	BoxFile:        "file name such as 001.md after a box",
	BoxFlag:        "(parallel: …) after a title",
	Row:            "row of a table with an id and a status",
}

// String returns the look in words.
func (l Look) String() string { return looks[l] }

// Survey is what a plan shows at first sight.
type Survey struct {
	// First is the first line with each look, or 0, and Count the number of its occurrences.
	First, Count [Looks]int
	// Numbered counts the checkboxes with a number as their id. Coded counts those with another id such as TASK-1:.
	Numbered, Coded int
	// Unnumbered counts the other checkboxes that could be tasks, Beside those of them that are not below another one,
	// and UnderTasks those below headings such as "Task 1".
	Unnumbered, Beside, UnderTasks int
	// Uncounted counts the checkboxes without number below headings such as "1.1 Model".
	Uncounted int
	// Tasks counts the checkboxes outside lists of criteria.
	Tasks int
	// Signed counts the list items with a sign of a task.
	Signed int
	// Fielded means that some field belongs to numbered plans only.
	Fielded bool
	// Adopted means that a field follows the checkbox below a heading such as "Task 1", which has its id.
	Adopted bool
	// Home counts the checkboxes in a section that a dialect has for its tasks.
	Home int
	// Hinted means that the plan is in a folder of the dialect that is asked.
	Hinted bool
	// Hint is the dialect of the folder that contains the plan, or nil.
	Hint *Dialect
}

// Has reports whether a plan shows one of some looks.
func (s *Survey) Has(some ...Look) bool {
	for _, l := range some {
		if s.First[l] > 0 {
			return true
		}
	}
	return false
}

// Exclusive reports whether a plan has fields or looks that only tools of numbered plans write.
func (s *Survey) Exclusive() bool {
	return s.Fielded || s.Has(FieldBlocked, FieldPrompt, FieldLeverage, Star, HeadGraph, DetailProperty)
}

// Explicit reports whether a plan has what only numbered plans have, or their heading.
func (s *Survey) Explicit() bool { return s.Exclusive() || s.Has(HeadPlan) }

// Outnumbered reports whether most checkboxes are tasks without a number. A leading number may then be a count: "2
// reviewers asked".
func (s *Survey) Outnumbered() bool {
	return s.Numbered > 0 && s.Beside > s.Numbered && s.Hint == nil && !s.Adopted && !s.Explicit()
}

// Checks returns the number of checkboxes that could be tasks.
func (s *Survey) Checks() int { return s.Numbered + s.Coded + s.Unnumbered }
