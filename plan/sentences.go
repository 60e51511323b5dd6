package plan

import (
	"fmt"
	"strings"
)

// This file reads the sentences below "Dependencies" in spec-kit: "T012 depends on T003", "T004 before T007", "Tests
// (T004-T007) before code (T008-T014)", "T001 → T002 → T003". A sentence is prose unless ids or phases stand on both
// sides of its word.

// relations are the words between the two sides of a sentence. Arrows are handled separately.
var relations = [...]struct {
	word  string
	first bool // the ids before the word come first
}{
	{" depends on ", false},
	{" depend on ", false},
	{" requires ", false},
	{" require ", false},
	{" is blocked by ", false},
	{" are blocked by ", false},
	{" blocked by ", false},
	{" must follow ", false},
	{" after ", false},
	{" must be completed before ", true},
	{" must complete before ", true},
	{" must finish before ", true},
	{" before ", true},
	{" blocks ", true},
	{" block ", true},
}

func (o *orders) readSentence(s sentence) {
	at := spot{s.line, s.column}
	for text := range strings.SplitSeq(unmarked.Replace(s.text), ";") {
		text = trim(text)
		if before, after, found := cutArrow(text); found {
			o.chain(before, after, at)
			continue
		}
		if before, after, found := cutRelation(text); found {
			o.relate(before, after, at)
		}
	}
}

// unmarked removes the marks of bold type and code.
var unmarked = strings.NewReplacer(bold, "", "`", "")

// chain reads a sentence with arrows.
func (o *orders) chain(before, rest string, at spot) {
	for {
		after, more, found := cutArrow(rest)
		if !o.relate(before, after, at) || !found {
			return
		}
		before, rest = after, more
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
	return before, after, found
}

// relate reads both sides, and reports whether both are ids or both are phases.
func (o *orders) relate(before, after string, at spot) bool {
	before, after = strings.TrimRight(trim(before), ".,:"), strings.TrimRight(trim(after), ".,:")
	if b, a := o.phase(before), o.phase(after); b >= 0 && a >= 0 {
		o.phases(b, a, at)
		return true
	}
	first, second := wholeList(before), wholeList(after)
	if first == "" || second == "" {
		return false
	}
	o.cross(o.items(first, at), o.items(second, at), at)
	return true
}

// phases adds no dependency, because each phase waits for the previous one anyway. It reports a contradiction to that.
func (o *orders) phases(before, after int, at spot) {
	if before >= after {
		o.report(at, SeverityWarning, "dependency_cycle",
			fmt.Sprintf("%q should come before %q, but a phase waits for the phases above it", clip(o.n.phases[before]), clip(o.n.phases[after])))
	}
}

// items returns the items in a list.
func (o *orders) items(list string, at spot) (items []int32) {
	o.n.splitDependencies(list)
	for _, id := range o.n.lists.take() {
		if i := o.n.r.find(id); i >= 0 {
			items = append(items, i)
		} else {
			o.reportUnknown(id, at)
		}
	}
	return items
}

// wholeList returns the ids of a text that is only a list of ids, and "" for other texts. A remark may follow the ids,
// or contain them: "Tests (T004-T007)".
func wholeList(text string) string {
	if at := strings.LastIndex(text, " ("); at >= 0 && strings.HasSuffix(text, ")") {
		if inside := text[at+len(" (") : len(text)-1]; idsAt(inside) == inside && inside != "" {
			return inside
		}
	}
	text, _, _ = strings.Cut(text, ": ") // a reason follows
	list := idsAt(text)
	rest := trim(text[len(list):])
	if rest == "" || strings.IndexByte("(-", rest[0]) >= 0 || strings.HasPrefix(rest, "–") || strings.HasPrefix(rest, "—") {
		return list
	}
	return ""
}

// phase returns the index of the phase that a text names: "Phase 2", "Setup (Phase 1)", "Setup". It returns -1 for
// none.
func (o *orders) phase(text string) int {
	name, inside, bracketed := strings.Cut(strings.TrimSuffix(text, ")"), " (")
	if !bracketed {
		inside = name
	}
	number := phaseNumber(inside)
	for i, heading := range o.n.phases {
		_, title, _ := strings.Cut(heading, ":")
		title, _, _ = strings.Cut(trim(title), " (")
		if number != "" && number == phaseNumber(heading) || number == "" && !bracketed && title != "" && equalWord(name, trim(title)) {
			return i
		}
	}
	return -1
}

// phaseNumber returns the number in "Phase 2" and "Phase 2: Berths", or "".
func phaseNumber(s string) string {
	const word = "Phase "
	if !beginsWith(s, word) {
		return ""
	}
	s = s[len(word):]
	rest := strings.TrimLeft(s, "0123456789")
	if rest != "" && rest[0] != ':' && !strings.HasPrefix(rest, " (") && !strings.HasPrefix(rest, " -") {
		return ""
	}
	return s[:len(s)-len(rest)]
}
