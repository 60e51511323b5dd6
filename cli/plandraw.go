package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"waybill/ledger"
)

// A plan is drawn in three parts: how far it is, its items as a tree, and what was odd in its file. How an
// item stands is said by its mark, and on a terminal by a colour too; an item that can be begun has an arrow.

// A mark is how items of one state are drawn.
type mark struct{ sign, words, colour string }

var marks = map[itemState]mark{
	stateReady:      {"→", "ready", "1;36"},
	stateWaiting:    {"·", "waiting", "2"},
	stateInProgress: {"»", "in progress", "34"},
	stateBlocked:    {"!", "blocked", "31"},
	stateDone:       {"✓", "done", "32"},
	stateSkipped:    {"-", "skipped", "2"},
	stateGroup:      {"▾", "open groups", ""},
}

// markOrder is that of the counts: what can be done first.
var markOrder = []itemState{stateReady, stateInProgress, stateBlocked, stateWaiting, stateDone, stateSkipped}

var severityColours = map[ledger.Severity]string{ledger.SeverityError: "31", ledger.SeverityWarning: "33", ledger.SeverityInfo: "2"}

const (
	barWidth        = 20
	mostDiagnostics = 40  // that are drawn; --json has all of them
	mostTitle       = 500 // columns of a title, also where a line may be as long as it likes
	below           = "  "
)

// A sheet is where and how a plan is drawn.
type sheet struct {
	width     int // of a page
	lineWidth int // of a line that stands for itself, as an item does
	style     func(code string) func(string) string
}

// plan draws a plan that was read from the text.
func (s sheet) plan(name, text string, r *ledger.Reading, items []outlookItem, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", s.style("1")(fit(plain(name), s.lineWidth)), s.progress(items))
	b.WriteString(s.dialect(r))
	if note != "" {
		s.paragraph(&b, "note: "+plain(note), "")
	}
	b.WriteString("\n" + s.tree(items))
	if len(r.Diagnostics) > 0 {
		b.WriteString("\n" + s.diagnostics(text, r.Diagnostics))
	}
	return b.String()
}

// progress counts the items that are work by themselves.
func (s sheet) progress(items []outlookItem) string {
	counts := map[itemState]int{}
	total := 0
	for _, it := range items {
		if it.DerivedStatus == 0 {
			counts[it.state]++
			total++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %d/%d done\n", s.style("32")(bar(counts[stateDone], total, barWidth)), counts[stateDone], total)
	column := 0
	for _, state := range markOrder {
		if counts[state] == 0 {
			continue
		}
		m := marks[state]
		part := fmt.Sprintf("%s %d %s", m.sign, counts[state], m.words)
		switch {
		case column == 0:
		case column+len(below)+columns(part) > s.width:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(below)
			column += len(below)
		}
		b.WriteString(s.style(m.colour)(part))
		column += columns(part)
	}
	return b.String() + "\n"
}

// dialect says what the file was read as, and by what that was known.
func (s sheet) dialect(r *ledger.Reading) string {
	var b strings.Builder
	s.paragraph(&b, "dialect "+plain(r.Dialect)+meanings(r)+reasonsFor(r.Evidence, r.Dialect), below)
	seen := map[string]bool{r.Dialect: true}
	for _, e := range r.Evidence {
		if !seen[e.Dialect] {
			seen[e.Dialect] = true
			s.paragraph(&b, "also looks like "+plain(e.Dialect)+reasonsFor(r.Evidence, e.Dialect), below)
		}
	}
	return b.String()
}

// meanings says what the marks mean of which tools mean several things: " (- in progress, ~ pending)".
func meanings(r *ledger.Reading) string {
	meant := r.Meanings()
	var parts []string
	for _, mark := range slices.Sorted(maps.Keys(meant)) {
		parts = append(parts, plain(mark)+" "+strings.ReplaceAll(meant[mark].String(), "_", " "))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func reasonsFor(all []ledger.Evidence, dialect string) string {
	var parts []string
	for _, e := range all {
		if e.Dialect == dialect {
			parts = append(parts, plain(e.Signal)+choose(e.Line > 0, fmt.Sprintf(" (line %d)", e.Line), ""))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// paragraph writes a text that has gone through plain, broken into lines, which are indented but for the
// first.
func (s sheet) paragraph(b *strings.Builder, text, indent string) {
	first := true
	for line := range wrap(text, s.width-columns(indent)) {
		b.WriteString(choose(first, "", indent) + line + "\n")
		first = false
	}
}

// tree draws the items, each below its parent.
func (s sheet) tree(items []outlookItem) string {
	plan := make([]ledger.Item, len(items))
	for i := range items {
		plan[i] = items[i].Item
	}
	first := firstByID(plan)
	up := parents(plan, first)
	known := func(id string) bool { _, ok := first[id]; return ok }
	shares := groups(items, up)
	var b strings.Builder
	walk(up, func(i int, rails []bool) {
		before, behind := branches(rails, max(2, s.width/8))
		s.item(&b, items[i], before, behind, shares[i], items[i].reason(known))
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

// item draws an item in a line, and why it cannot be begun in another if the first has no place for it.
func (s sheet) item(b *strings.Builder, it outlookItem, before, behind string, t share, reason string) {
	m := marks[it.state]
	id := fit(plain(it.ID), max(8, s.lineWidth/3))
	extra := it.extra(t)
	indent := columns(before) + 2
	text := id
	if room := s.lineWidth - indent - columns(id) - 1 - columns(extra); room > 0 && it.Title != "" {
		text += " " + fit(plain(it.Title), min(room, mostTitle))
	}
	text = fit(text+extra, s.lineWidth-indent)
	line := before + s.style(m.colour)(m.sign+" "+text)
	if m.colour == "" {
		line = before + m.sign + " " + text
	}
	const dot = " · "
	switch {
	case reason == "":
	case columns(reason) <= s.lineWidth-indent-columns(text)-columns(dot):
		line += s.style("2")(dot + reason)
	default:
		line += "\n" + behind + below + s.style("2")(fit(reason, s.lineWidth-columns(behind)-columns(below)))
	}
	b.WriteString(line + "\n")
}

// extra is what is said behind the title.
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

// diagnostics shows the places of the file that were odd, of many the gravest, in the order of the file.
func (s sheet) diagnostics(text string, all []ledger.Diagnostic) string {
	shown := slices.Clone(all)
	slices.SortStableFunc(shown, func(a, b ledger.Diagnostic) int { return cmp.Compare(b.Severity, a.Severity) })
	shown = shown[:min(mostDiagnostics, len(shown))]
	slices.SortStableFunc(shown, func(a, b ledger.Diagnostic) int {
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

func severities(all []ledger.Diagnostic) string {
	counts := map[ledger.Severity]int{}
	for _, d := range all {
		counts[d.Severity]++
	}
	var parts []string
	for _, severity := range slices.Backward(slices.Sorted(maps.Keys(counts))) {
		if severity == ledger.SeverityInfo {
			parts = append(parts, fmt.Sprintf("%d info", counts[severity]))
			continue
		}
		parts = append(parts, count(counts[severity], severity.String()))
	}
	return strings.Join(parts, ", ")
}

func (s sheet) diagnostic(b *strings.Builder, d ledger.Diagnostic, line string, found bool) {
	colour := s.style(severityColours[d.Severity])
	place := fmt.Sprintf("line %d:%d  ", d.Line, d.Column)
	if d.Source != "" {
		b.WriteString(fit(plain(d.Source), s.width) + "\n")
	}
	code := fit(plain(d.Code), max(1, s.width-len(place)-len(d.Severity.String())-len(below)))
	b.WriteString(place + colour(d.Severity.String()) + below + code + "\n")
	b.WriteString(below)
	s.paragraph(b, plain(d.Message), below)
	if !found {
		return
	}
	text, caret := excerpt(line, d.Column, s.width-columns(gutter)-1)
	b.WriteString(strings.TrimRight(gutter+text, " ") + "\n" + gutter + strings.Repeat(" ", caret) + colour("^") + "\n")
}
