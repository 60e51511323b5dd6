package graph

import (
	"fmt"
	"slices"
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// This file reads statements about the order of items outside the items: drawings with arrows, such as "1 --> 2" and
// "T1[1. Dig] -->|then| T2[2. Plant]", and sentences, such as "T012 depends on T003", "Tests (T004-T007) before code
// (T008-T014)" and "Phase 3 depends on Phase 2".

// Order is a statement about the order of items: rows.Text[From:To].
type Order struct {
	Kind     OrderKind
	From, To int32
}

// OrderKind is the kind of an Order.
type OrderKind uint8

const (
	// Sketch is the inside of a code fence below a heading such as "Task Dependency Graph".
	Sketch OrderKind = iota
	// Line is a line of text there. It counts if all its nodes are items.
	Line
	// Sentence is a list item below a heading such as "Dependencies".
	Sentence
	// Remark is any other line outside items. It may say that stories proceed in parallel.
	Remark
)

// orders reads the statements about the order of items.
type orders struct {
	*builder
	waves   []wave
	labels  map[string]string // of the nodes of a drawing
	strange map[string]bool   // unknown names that were already reported
	// stated are the phases that the plan names for a phase, and alike the first of the phases that proceed in parallel
	// with it.
	stated map[int32][]int32
	alike  map[int32]int32
}

// read reads all statements.
func (b *orders) read() {
	for _, o := range b.in.Orders {
		from, to := int(o.From), int(o.To)
		switch o.Kind {
		case Sketch:
			if text := strings.TrimSpace(b.rows.Text[from:to]); text != "" && (text[0] == '{' || text[0] == '[') {
				b.readWaves(from, to)
			} else {
				b.readArrows(from, to)
			}
		case Line:
			b.arrows(b.rows.Text[from:to], from, false)
		case Sentence:
			b.sentence(b.rows.Text[from:to], from)
		case Remark:
		}
		if o.Kind >= Sentence && len(b.phases) > 0 && b.expanded <= mostExpanded {
			list := b.inParallel(b.rows.Text[from:to])
			b.expanded += len(list)
			for _, k := range list {
				if first, known := b.alike[k]; !known || list[0] < first {
					b.alike[k] = list[0]
				}
			}
		}
	}
	b.barriers()
	b.settleWaves()
}

// reportUnknown reports a name without an item, once for each name.
func (b *orders) reportUnknown(name string, at int) {
	if b.strange[name] {
		return
	}
	if b.strange == nil {
		b.strange = map[string]bool{}
	}
	b.strange[name] = true
	b.out.Unknown = append(b.out.Unknown, name)
	b.notes.Add(at, plan.SeverityWarning, "dependency_unresolved", fmt.Sprintf("%q is not an id in this plan, so it is ignored", lex.Clip(name)))
}

// drawn returns the item with a name in the spelling of drawings: "2.1", "Task 2.1", "T2_1" or "2.1 Draw the rows". It
// returns -1 for none.
func (b *orders) drawn(name string) int32 {
	if i := b.rows.Find(name); i >= 0 {
		return i
	}
	id := Bare(name)
	if i := b.rows.Find(id); i >= 0 {
		return i
	}
	if word, _, more := strings.Cut(id, " "); more {
		if i := b.rows.Find(strings.TrimRight(word, ".:)")); i >= 0 {
			return i
		}
	}
	if rest, ok := lex.CutPrefixFold(id, "task"); ok {
		id = strings.TrimLeft(rest, "-_ ")
	} else if rest, ok := lex.CutPrefixFold(id, "t"); ok {
		id = rest
	}
	if id == "" || !lex.IsDigit(id[0]) {
		return -1
	}
	return b.rows.Find(strings.ReplaceAll(id, "_", "."))
}

// readArrows reads a drawing line by line. It reports arrows that span several lines, because it cannot read them.
func (b *orders) readArrows(from, to int) {
	met, lost, first := false, -1, -1
	for at := from; at < to; {
		line := b.rows.Text[at:to]
		if end := strings.IndexAny(line, "\r\n"); end >= 0 {
			line = line[:end]
		}
		if text := lex.Trim(line); text != "" {
			start := at + strings.Index(line, text)
			found, whole := b.arrows(text, start, true)
			met = met || found
			if !whole && lost < 0 {
				lost = start
			}
			if first < 0 {
				first = start
			}
		}
		at += len(line) + 1
	}
	switch {
	case lost >= 0:
		b.notes.Add(lost, plan.SeverityWarning, "graph_unread",
			"this arrow has only one end, so it is ignored: write both ends on one line, such as 1 --> 2")
	case !met && first >= 0:
		b.notes.Add(first, plan.SeverityInfo, "graph_unread", "this drawing has no order that can be read: write one such as 1 --> 2")
	}
}

// arrows reads one line: each node waits for the nodes before its arrow. It reports whether the line has an arrow, and
// whether every arrow has two ends.
func (b *orders) arrows(line string, at int, strict bool) (met, whole bool) {
	if whole = true; strings.HasPrefix(line, "%%") { // a remark
		return false, whole
	}
	node, rest, found := cutArrow(line)
	met = found
	var row [][]int32
	for {
		row = append(row, b.nodes(node, at, strict && met))
		whole = whole && (node != "" || !met)
		if !strict && row[len(row)-1] == nil {
			return met, whole
		}
		if !found {
			break
		}
		node, rest, found = cutArrow(rest)
	}
	for k := 1; k < len(row); k++ {
		b.cross(row[k-1], row[k], at)
	}
	return met, whole
}

// cross records that every item in before precedes every item in after.
func (b *orders) cross(before, after []int32, at int) {
	for _, first := range before {
		for _, second := range after {
			if b.expanded++; b.expanded > mostExpanded {
				b.tooMuch(at)
				return
			}
			if id := b.rows.Entries[first].ID; b.own == nil || !slices.Contains(b.own[second], id) {
				b.need(second, id)
			}
		}
	}
}

func (b *builder) tooMuch(at int) {
	if !b.full {
		b.full = true
		b.notes.Add(at, plan.SeverityWarning, "graph_too_large", "the plan says more about the order of its items than waybill reads: everything from here on is ignored")
	}
}

// cutArrow splits a line at its first arrow, and removes the label of that arrow.
func cutArrow(s string) (node, rest string, found bool) {
	for i := 0; i < len(s); i++ {
		width := 0
		if s[i] == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '=') {
			width = 1
		} else if s[i] >= 0x80 {
			for _, arrow := range [...]string{"→", "⟶", "►", "▶", "⇒"} {
				if strings.HasPrefix(s[i:], arrow) {
					width = len(arrow)
				}
			}
		}
		if width == 0 {
			continue
		}
		node, rest = strings.Trim(s[:i], "-=. ─│├└┌┬┼"), lex.Trim(s[i+width:])
		if cut := strings.Index(node, " -- "); cut >= 0 { // A -- label --> B
			node = lex.Trim(node[:cut])
		}
		if label, labelled := strings.CutPrefix(rest, "|"); labelled {
			if _, after, closed := strings.Cut(label, "|"); closed {
				rest = lex.Trim(after)
			}
		}
		return node, rest, true
	}
	return lex.Trim(s), "", false
}

// nodes returns the items on one side of an arrow, such as "1 & 2", and records their labels.
func (b *orders) nodes(side string, at int, strict bool) (items []int32) {
	for side = strings.TrimRight(side, "; "); side != ""; {
		var one string
		if one, side = cutNode(side); lex.Trim(one) == "" {
			continue
		}
		name, label := lex.Trim(one), ""
		if open := strings.IndexAny(name, "[({"); open >= 0 {
			if label = strings.Trim(name[open:], "[](){}\"' "); open == 0 {
				name, label = label, ""
			} else {
				name = lex.Trim(name[:open])
			}
		} else {
			name = strings.Trim(name, `"`)
		}
		if label == "" {
			label = b.labels[name]
		} else if len(label) <= 2*lex.LongestID {
			if b.labels == nil {
				b.labels = map[string]string{}
			}
			b.labels[name] = label
		}
		i := int32(-1)
		if label != "" {
			i = b.drawn(label)
		}
		if i < 0 {
			i = b.drawn(name)
		}
		if i >= 0 {
			items = append(items, i)
		} else if strict {
			b.reportUnknown(name, at)
		}
	}
	return items
}

// cutNode splits a text at the first "&" or comma outside a label.
func cutNode(s string) (node, rest string) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[', '(', '{':
			depth++
		case ']', ')', '}':
			depth = max(0, depth-1)
		case '&', ',':
			if depth == 0 {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ""
}

// relations are the words between the two sides of a sentence. Arrows are handled separately.
var relations = [...]struct {
	word  string
	first bool // the ids before the word come first
}{
	{" depends on ", false},
	{" depend on ", false},
	{" requires ", false},
	{" require ", false},
	{" blocked by ", false},
	{" must follow ", false},
	{" after ", false},
	{" must be completed before ", true},
	{" must complete before ", true},
	{" must finish before ", true},
	{" before ", true},
	{" blocks ", true},
	{" block ", true},
	{"依赖于", false},
	{"依赖", false},
	{"に依存", false},
}

// unmarked removes the marks of bold type and code.
var unmarked = strings.NewReplacer("**", "", "`", "")

// sentence reads a sentence. It is prose unless ids or phases stand on both sides of its word.
func (b *orders) sentence(text string, at int) {
	for part := range strings.SplitSeq(unmarked.Replace(text), ";") {
		before, rest, found := cutArrow(part)
		if !found {
			if before, after, found := cutRelation(lex.Trim(part)); found {
				b.relate(before, after, at)
			}
			continue
		}
		for more := true; more; {
			var after string
			after, rest, more = cutArrow(rest)
			more = b.relate(before, after, at) && more
			before = after
		}
	}
}

// cutRelation splits a sentence at its first relation word.
func cutRelation(text string) (before, after string, found bool) {
	lower, first := strings.ToLower(text), len(text)
	if len(lower) != len(text) { // a letter whose lower case has another length: the offsets differ
		return "", "", false
	}
	for _, r := range relations {
		at := strings.Index(lower, r.word)
		if at < 0 || at >= first {
			continue
		}
		first, found = at, true
		before, after = text[:at], text[at+len(r.word):]
		if !r.first {
			before, after = after, before
		}
	}
	for _, word := range [...]string{" is", " are", "："} {
		before, after = strings.TrimSuffix(before, word), strings.TrimSuffix(after, word)
	}
	return before, after, found
}

// relate reads both sides, and reports whether both are phases or both are ids.
func (b *orders) relate(before, after string, at int) bool {
	before, after = strings.TrimRight(lex.Trim(before), ".,:"), strings.TrimRight(lex.Trim(after), ".,:")
	sooner, later := b.phaseList(cutReason(before)), b.phaseList(cutReason(after))
	if sooner != nil && later != nil {
		b.relatePhases(sooner, later, at)
		return true
	}
	first, second := b.wholeList(before), b.wholeList(after)
	if first == "" || second == "" {
		return false
	}
	b.cross(b.listed(first, at), b.listed(second, at), at)
	return true
}

// relatePhases records which phases some phases wait for. It reports a contradiction to their order.
func (b *orders) relatePhases(sooner, later []int32, at int) {
	for _, k := range later {
		if late := slices.IndexFunc(sooner, func(d int32) bool { return d >= k }); late >= 0 {
			b.notes.Add(at, plan.SeverityWarning, "dependency_cycle",
				fmt.Sprintf("%q should come before %q, but a phase waits for the phases above it", lex.Clip(b.phases[sooner[late]].heading), lex.Clip(b.phases[k].heading)))
			return
		}
	}
	if b.expanded += len(later) * len(sooner); b.expanded > mostExpanded {
		b.tooMuch(at)
		return
	}
	for _, k := range later {
		b.stated[k] = append(b.stated[k], sooner...)
		slices.Sort(b.stated[k])
		b.stated[k] = slices.Compact(b.stated[k])
	}
}

// cutReason removes what follows the name of a phase.
func cutReason(text string) string {
	for _, stop := range [...]string{": ", " - ", " – ", " — ", ". "} {
		text, _, _ = strings.Cut(text, stop)
	}
	return text
}

// listed returns the items in a list.
func (b *orders) listed(list string, at int) (items []int32) {
	for _, id := range b.names.read(list).ids {
		if i := b.rows.Find(id); i >= 0 {
			items = append(items, i)
		} else {
			b.reportUnknown(id, at)
		}
	}
	return items
}

// wholeList returns the ids of a text that is only a list of ids, and "" for other texts. A remark may follow the ids,
// or contain them: "Tests (T004-T007)".
func (b *orders) wholeList(text string) string {
	if at := strings.LastIndex(text, " ("); at >= 0 && strings.HasSuffix(text, ")") {
		if inside := text[at+len(" (") : len(text)-1]; b.leading(inside, false) == inside && inside != "" {
			return inside
		}
	}
	text, _, _ = strings.Cut(text, ": ") // a reason follows
	list := b.leading(text, false)
	rest := lex.Trim(text[len(list):])
	if rest == "" || strings.ContainsRune("(-–—", firstRune(rest)) {
		return list
	}
	return ""
}
