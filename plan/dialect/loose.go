package dialect

import (
	"strings"

	"waybill/plan"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// loose is the dialect of lists of no particular tool: checkboxes without ids or with ids of their own, and lines that
// begin with a sign instead of a checkbox.
var loose = Dialect{
	Name: "loose",
	Fits: func(s *Survey) int {
		switch {
		case s.Outnumbered():
			return s.Numbered + s.Coded + 1
		case s.Coded > s.Numbered:
			return s.Coded
		}
		return min(1, s.Unnumbered+s.Signed)
	},
	Label: looseLabel,
	Marks: []Meaning{
		{"✅", plan.Completed, ""},
		{"√", plan.Completed, ""},
		{"✓", plan.Completed, ""},
		{"✔", plan.Completed, ""},
		{"⏳", plan.InProgress, ""},
		{"~", plan.Pending, `the mark "~" has several meanings, so the item is open: explain it in a legend, such as "[~] = skipped"`},
		{"-", plan.Pending, `the mark "-" has several meanings, so the item is open: explain it in a legend, such as "[-] = skipped"`},
	},
	Boxes: Signs{plan.Pending: {" "}, plan.InProgress: {"", "⏳"}, plan.Completed: {"x", "X", "✅"}},
	Words: Signs{
		plan.Pending: {"", "⬜", "☐", "🔲"}, plan.InProgress: {"⏳", "🔄", "🚧"}, plan.Completed: {"✅", "☑", "✔"}, plan.Blocked: {"", "⏸", "⛔", "🚫"},
	},
	Texts: Texts{
		Usable:  spaceOrX,
		Stop:    " ",
		Missing: "no checkbox outside fences, comments and lists of criteria, and no line that begins with ⬜, ⏳ or ✅",
	},
	Traits: Traits{Unnumbered: true, Sign: true, Anywhere: true},
}

// looseLabel parses "TASK-1: Title" and "(task_1) Title {blocked_by: [task_2]; effort: 1}".
func looseLabel(text string, l *Label) {
	if at := strings.LastIndexByte(text, '{'); at > 0 && strings.HasSuffix(text, "}") && strings.IndexByte(text[at:], ':') > 0 {
		for part := range strings.SplitSeq(text[at+1:len(text)-1], ";") {
			if name, value, _ := strings.Cut(part, ":"); graph.Word(strings.ReplaceAll(lex.Trim(name), "_", " ")) > 0 {
				l.Waits = lex.Trim(value)
			} else if l.Full && lex.Trim(part) != "" {
				l.Details = append(l.Details, lex.Trim(part))
			}
		}
		text = lex.Trim(text[:at])
	}
	l.ID, l.Title = lex.ReadCode(text)
}
