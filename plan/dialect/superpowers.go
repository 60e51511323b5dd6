package dialect

import (
	"strings"

	"waybill/plan/lex"
)

// superpowers is the dialect of superpowers and Claude Code: "### Task 2: Compost log" with steps in checkboxes below.
var superpowers = ofHeadings(Dialect{
	Name: "superpowers",
	Fits: func(s *Survey) int {
		if s.Has(HeadTaskGroup) || s.Tasks == 0 && !(s.Has(BoxStep) && !s.Has(DetailReview)) {
			return 0
		}
		return fitsHeads(s)
	},
	Looks:   []Look{HeadTask, BoxStep, HeadNumbered, BoxAnew},
	Folders: []string{"docs/superpowers/plans/"},
})

// ofHeadings completes the dialect of a tool whose tasks are headings.
func ofHeadings(d Dialect) Dialect {
	d.Label, d.Head, d.Marks, d.Boxes, d.Words = headLabel, lex.TaskHead, closed("plans of headings"), twoMarks, headWords
	d.Texts = Texts{Usable: spaceOrX, Stop: " ", Missing: `no heading such as "### Task 2: Compost log" or "#### Task Group 2: Compost"`}
	d.Unnumbered, d.Zero = true, true
	return d
}

// fitsHeads returns how many headings and checkboxes a plan has whose tasks are headings.
func fitsHeads(s *Survey) int {
	tasks := s.Count[HeadTask]
	story := s.Has(HeadSubtasks) && s.Count[BoxTaskNumber] >= max(1, tasks) && !s.Has(FieldBlocked, FieldPrompt, FieldLeverage)
	switch {
	case s.Adopted, s.Exclusive(), story, s.Count[BoxTaskID] > tasks, s.Has(BoxTrack):
		return 0 // checkboxes are the tasks, and headings are only their titles or notes
	case s.Has(HeadTaskGroup):
		return tasks + s.Count[HeadTaskGroup] + s.Checks()
	case tasks == 0 && !s.Hinted:
		return 0
	case s.Hinted, s.Has(BoxStep, HeadNumbered), s.Count[BoxAnew] > 1, tasks+s.UnderTasks > s.Numbered:
		return tasks + s.Checks()
	}
	return 0
}

// headLabel parses the text after a checkbox: "**Step 1: Write the failing check**", "1.2 Crop the edge", or only a
// title. A number without a dot is the number of a step.
func headLabel(text string, l *Label) {
	if l.InHead {
		text = lex.Trim(strings.TrimRight(text, "#"))
		l.Title = text
		if h, ok := lex.TaskHead(text); ok {
			l.ID, l.Title, l.Withdrawn = h.ID, h.Title, h.Withdrawn
		}
		return
	}
	bare := text
	if inside, ok := strings.CutPrefix(text, lex.Bold); ok {
		inside, after, _ := strings.Cut(inside, lex.Bold)
		bare = inside + after
	}
	rest, step := lex.CutWord(bare, "Step")
	rest = lex.Trim(rest)
	number, end, _ := lex.ReadID(rest)
	dotted := strings.IndexByte(number, '.') >= 0
	if number == "" || !step && end == len(number) && !dotted {
		l.Title = text
		return
	}
	l.ID, l.Title = number, strings.TrimLeft(lex.Trim(rest[end:]), "-–— ")
	l.Step = step || !dotted
	l.Stepped = step
}
