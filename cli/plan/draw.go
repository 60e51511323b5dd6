package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"waybill/cli/output"
	"waybill/internal/lazy"
	"waybill/internal/safetext"
	"waybill/plan"
	"waybill/plan/read"
)

// A plan is drawn in three parts: its progress, its items as a tree, and the diagnostics of its file. A mark shows the
// state of an item, and on a terminal a colour too. An item that can start has an arrow.

// A mark is how items of one state are drawn.
type mark struct{ sign, words, colour string }

var marks = lazy.Value[map[itemState]mark]{Of: func() map[itemState]mark {
	return map[itemState]mark{
		stateReady:      {"→", "ready", "1;36"},
		stateWaiting:    {"·", "waiting", "2"},
		stateInProgress: {"»", "in progress", "34"},
		stateBlocked:    {"!", "blocked", "31"},
		stateDone:       {"✓", "done", "32"},
		stateSkipped:    {"-", "skipped", "2"},
		stateGroup:      {"▾", "open groups", ""},
		stateUnread:     {"!", "open outside items", "33"},
	}
}}

// markOrder is the order of the counts: open boxes that no run can begin come first, then the items that can start.
var markOrder = []itemState{stateUnread, stateReady, stateInProgress, stateBlocked, stateWaiting, stateDone, stateSkipped}

var severityColours = lazy.Value[map[plan.Severity]string]{Of: func() map[plan.Severity]string {
	return map[plan.Severity]string{plan.SeverityError: "31", plan.SeverityWarning: "33", plan.SeverityInfo: "2"}
}}

const (
	mostDiagnostics = 40  // that are drawn; --json has all of them
	mostTitle       = 500 // columns of a title, also where a line may be as long as it likes
	below           = "  "
)

// A sheet is where and how a plan is drawn.
type sheet struct {
	width     int // of a page
	lineWidth int // of a line of its own, such as an item
	style     func(code string) func(string) string
}

// plan draws a plan that was read from the text.
func (s sheet) plan(name, text string, r *plan.Reading, items []outlookItem, far plan.PlanProgress, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", s.style("1")(output.Fit(safetext.Printable(name), s.lineWidth)), s.progress(items, r.Totals.Unread, far))
	b.WriteString(s.dialect(r))
	if note != "" {
		s.paragraph(&b, "note: "+safetext.Printable(note), "")
	}
	b.WriteString("\n" + s.tree(items))
	if len(r.Diagnostics) > 0 {
		b.WriteString("\n" + s.diagnostics(text, r.Diagnostics))
	}
	return b.String()
}

// progress returns the progress of the plan, and counts the items without derived status by state. Before them it
// counts the open boxes that are no items.
func (s sheet) progress(items []outlookItem, unread int, far plan.PlanProgress) string {
	counts := map[itemState]int{stateUnread: unread}
	for _, it := range items {
		if it.DerivedStatus == 0 {
			counts[it.state]++
		}
	}
	var b strings.Builder
	b.WriteString(s.style("32")(output.Bar(far.Completed, far.Total, output.BarWidth)))
	said := below + output.HowFar(far) + choose(far.ByRuns(), "", " done")
	if output.BarWidth+output.Columns(said) > s.width {
		b.WriteString("\n")
	}
	s.paragraph(&b, said, below)
	column := 0
	for _, state := range markOrder {
		if counts[state] == 0 {
			continue
		}
		m := marks.Get()[state]
		part := fmt.Sprintf("%s %d %s", m.sign, counts[state], m.words)
		switch {
		case column == 0:
		case column+len(below)+output.Columns(part) > s.width:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(below)
			column += len(below)
		}
		b.WriteString(s.style(m.colour)(part))
		column += output.Columns(part)
	}
	return b.String() + "\n"
}

// dialect returns the dialect of the plan and its evidence.
func (s sheet) dialect(r *plan.Reading) string {
	var b strings.Builder
	s.paragraph(&b, "dialect "+safetext.Printable(r.Dialect)+meanings(r)+reasonsFor(r.Evidence, r.Dialect), below)
	seen := map[string]bool{r.Dialect: true}
	for _, e := range r.Evidence {
		if !seen[e.Dialect] {
			seen[e.Dialect] = true
			s.paragraph(&b, "also looks like "+safetext.Printable(e.Dialect)+reasonsFor(r.Evidence, e.Dialect), below)
		}
	}
	return b.String()
}

// meanings explains the marks that differ between tools: " (- in progress, ~ pending)".
func meanings(r *plan.Reading) string {
	meant := read.Meanings(r)
	var parts []string
	for _, mark := range slices.Sorted(maps.Keys(meant)) {
		parts = append(parts, safetext.Printable(mark)+" "+strings.ReplaceAll(meant[mark].String(), "_", " "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func reasonsFor(all []plan.Evidence, dialect string) string {
	var parts []string
	for _, e := range all {
		if e.Dialect == dialect {
			parts = append(parts, safetext.Printable(e.Signal)+choose(e.Line > 0, fmt.Sprintf(" (line %d)", e.Line), ""))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// paragraph writes a text that has gone through safetext.Printable, broken into lines, which are indented but for the
// first.
func (s sheet) paragraph(b *strings.Builder, text, indent string) {
	first := true
	for line := range output.Wrap(text, s.width-output.Columns(indent)) {
		b.WriteString(choose(first, "", indent) + line + "\n")
		first = false
	}
}

// tree draws the items, each below its parent.
func (s sheet) tree(items []outlookItem) string {
	plan := make([]plan.Item, len(items))
	for i := range items {
		plan[i] = items[i].Item
	}
	first := firstByID(plan)
	up := parents(plan, first)
	shares := groups(items, up)
	var b strings.Builder
	walk(up, func(i int, rails []bool) {
		before, behind := branches(rails, max(2, s.width/8))
		s.item(&b, items[i], before, behind, shares[i], items[i].reason())
	})
	return b.String()
}

// A share counts the leaves below an item.
type share struct{ done, total int }

func groups(items []outlookItem, up []int) []share {
	below := make([]share, len(items))
	var order []int
	walk(up, func(i int, _ []bool) { order = append(order, i) })
	for _, i := range slices.Backward(order) {
		if below[i].total == 0 {
			below[i] = share{total: 1}
			if items[i].state == stateDone {
				below[i].done = 1
			}
		}
		if p := up[i]; p >= 0 {
			below[p].done += below[i].done
			below[p].total += below[i].total
		}
	}
	return below
}

// item draws an item on a line. If the reason why it cannot begin does not fit, the reason is on a second line.
func (s sheet) item(b *strings.Builder, it outlookItem, before, behind string, t share, reason string) {
	m := marks.Get()[it.state]
	id := output.Fit(safetext.Printable(it.ID), max(8, s.lineWidth/3))
	extra := it.extra(t)
	indent := output.Columns(before) + 2
	text := id
	if room := s.lineWidth - indent - output.Columns(id) - 1 - output.Columns(extra); room > 0 && it.Title != "" {
		text += " " + output.Fit(safetext.Printable(it.Title), min(room, mostTitle))
	}
	text = output.Fit(text+extra, s.lineWidth-indent)
	line := before + s.style(m.colour)(m.sign+" "+text)
	if m.colour == "" {
		line = before + m.sign + " " + text
	}
	const dot = " · "
	switch {
	case reason == "":
	case output.Columns(reason) <= s.lineWidth-indent-output.Columns(text)-output.Columns(dot):
		line += s.style("2")(dot + reason)
	default:
		line += "\n" + behind + below + s.style("2")(output.Fit(reason, s.lineWidth-output.Columns(behind)-output.Columns(below)))
	}
	b.WriteString(line + "\n")
}

// extra returns the text after the title.
func (it outlookItem) extra(t share) string {
	text := ""
	if it.DerivedStatus != 0 {
		text += fmt.Sprintf("  %d/%d", t.done, t.total)
	}
	if it.Optional {
		text += "  [optional]"
	}
	if it.Parallel {
		text += "  [parallel]"
	}
	return text
}

// diagnostics shows the diagnostics in file order. If there are many, it shows the gravest.
func (s sheet) diagnostics(text string, all []plan.Diagnostic) string {
	shown := slices.Clone(all)
	slices.SortStableFunc(shown, func(a, b plan.Diagnostic) int { return cmp.Compare(b.Severity, a.Severity) })
	shown = shown[:min(mostDiagnostics, len(shown))]
	slices.SortStableFunc(shown, func(a, b plan.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	lines := diagnosedLines(text, shown)
	var b strings.Builder
	b.WriteString(s.style("1")("diagnostics") + "  " + severities(all) + "\n")
	for _, d := range shown {
		line, found := lines[fileLine{d.Source, d.Line}]
		s.diagnostic(&b, d, line, found)
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(&b, "… %d more; --json has all of them\n", more)
	}
	return b.String()
}

func severities(all []plan.Diagnostic) string {
	counts := map[plan.Severity]int{}
	for _, d := range all {
		counts[d.Severity]++
	}
	var parts []string
	for _, severity := range slices.Backward(slices.Sorted(maps.Keys(counts))) {
		if severity == plan.SeverityInfo {
			parts = append(parts, fmt.Sprintf("%d info", counts[severity]))
			continue
		}
		parts = append(parts, output.Count(counts[severity], severity.String()))
	}
	return strings.Join(parts, ", ")
}

func (s sheet) diagnostic(b *strings.Builder, d plan.Diagnostic, line string, found bool) {
	colour := s.style(severityColours.Get()[d.Severity])
	place := fmt.Sprintf("line %d:%d  ", d.Line, d.Column)
	if d.Source != "" {
		b.WriteString(output.Fit(safetext.Printable(d.Source), s.width) + "\n")
	}
	code := output.Fit(safetext.Printable(d.Code), max(1, s.width-len(place)-len(d.Severity.String())-len(below)))
	b.WriteString(place + colour(d.Severity.String()) + below + code + "\n")
	b.WriteString(below)
	s.paragraph(b, safetext.Printable(d.Message), below)
	if !found {
		return
	}
	text, caret := excerpt(line, d.Column, s.width-output.Columns(output.Gutter)-1)
	b.WriteString(strings.TrimRight(output.Gutter+text, " ") + "\n" + output.Gutter + strings.Repeat(" ", caret) + colour("^") + "\n")
}
