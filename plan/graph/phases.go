package graph

import (
	"slices"
	"strings"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/lex"
)

// This file orders the phases of a plan. A phase waits for the phases above it, unless the plan says something else:
// that stories proceed in parallel, or which phases a phase depends on.

// phase is a phase of a plan.
type phase struct {
	heading      string
	number, name string // of "Phase 2: Berths"
	story        string // the number of its user story, or ""
	ids          []string
}

func phasesOf(rows *plan.Rows, in Input) []phase {
	phases := make([]phase, len(in.Phases))
	for k, heading := range in.Phases {
		name, title, _ := strings.Cut(heading, ":")
		if title == "" {
			name, title, _ = strings.Cut(heading, " - ")
		}
		title, _, _ = strings.Cut(lex.Trim(title), " (")
		phases[k] = phase{heading: heading, number: numberAfter(name, "Phase "), name: lex.Trim(title), story: storyIn(title)}
	}
	for i, k := range in.Phase {
		if e := &rows.Entries[i]; k > 0 && e.Status != plan.Skipped {
			phases[k-1].ids = append(phases[k-1].ids, e.ID)
		}
	}
	return phases
}

// numberAfter returns the number after a word at the beginning of s, or "". Nothing but a remark may follow.
func numberAfter(s, word string) string {
	s, ok := lex.CutPrefixFold(s, word)
	rest := strings.TrimLeft(s, "0123456789")
	if !ok || rest != "" && rest[0] != ':' && rest[0] != '+' && !strings.HasPrefix(rest, " (") && !strings.HasPrefix(rest, " -") {
		return ""
	}
	return s[:len(s)-len(rest)]
}

// storyIn returns the number of the user story at the beginning of a title, or "".
func storyIn(title string) string {
	for _, word := range [...]string{"User Story ", "Story ", "US ", "US", "用户故事 ", "用户故事", "ユーザーストーリー ", "ユーザーストーリー"} {
		if number := numberAfter(title, word); number != "" {
			return number
		}
	}
	return ""
}

// phase returns the index of the phase that a text names: "Phase 2", "Setup (Phase 1)", "Setup", "User Story 1 (P1)",
// "Foundational phase completion". It returns -1 for none.
func (n *names) phase(text string) int {
	if len(n.phases) == 0 {
		return -1
	}
	for _, end := range [...]string{" being complete", " is complete", " completion", " completed", " complete", " done", " phase"} {
		if len(text) > len(end) && strings.EqualFold(text[len(text)-len(end):], end) {
			text = text[:len(text)-len(end)]
		}
	}
	name, inside, bracketed := strings.Cut(strings.TrimSuffix(text, ")"), " (")
	if !bracketed {
		inside = name
	}
	number, story := numberAfter(inside, "Phase "), storyIn(name)
	switch {
	case number != "":
		name = "phase " + number
	case story != "":
		name = "story " + story
	}
	if k, ok := n.places[strings.ToLower(name)]; ok {
		return k
	}
	return -1
}

// placesOf returns the first phase with each name.
func placesOf(phases []phase) map[string]int {
	places := map[string]int{}
	for k, p := range slices.Backward(phases) {
		places["phase "+p.number], places["story "+p.story], places[strings.ToLower(p.name)] = k, k, k
	}
	for k, p := range slices.Backward(phases) { // "Setup & Foundation" is called Setup as well
		for part := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(p.name, " and ", " & ")), " & ") {
			if _, taken := places[part]; !taken {
				places[part] = k
			}
		}
	}
	delete(places, "")
	return places
}

// phaseList returns the phases in a list, or nil if one of its entries is none. "User stories" are all phases with a
// story.
func (n *names) phaseList(text string) (list []int32) {
	text, _ = lex.CutPrefixFold(lex.Trim(text), "all ")
	text, _ = lex.CutPrefixFold(text, "desired ")
	text, _ = lex.CutPrefixFold(text, "user ")
	if rest, ok := lex.CutPrefixFold(text, "stories"); ok && (rest == "" || rest[0] == ' ') {
		for k, p := range n.phases {
			if p.story != "" {
				list = append(list, int32(k))
			}
		}
		return list
	}
	if rest, ok := lex.CutPrefixFold(text, "phases "); ok {
		text = "Phase " + rest
	}
	for text != "" {
		var part string
		part, text, _ = cutPart(text)
		if part = strings.TrimRight(lex.Trim(part), ".:"); isNumber(part) {
			part = "Phase " + part
		}
		k := n.phase(part)
		if k < 0 {
			return nil
		}
		list = append(list, int32(k))
	}
	return list
}

// barriers makes each item wait for the phases before its own.
func (b *orders) barriers() {
	if !b.in.Barriers || len(b.phases) == 0 {
		return
	}
	all := make([]stage, len(b.phases))
	awaited := make([]bool, len(all))
	var ends []int32 // the phases that no other phase waits for, and some others
	for k := range all {
		s := &all[k]
		s.ids = b.phases[k].ids
		first, parallel := b.alike[int32(k)]
		switch {
		case b.stated[int32(k)] != nil:
			s.after = b.stated[int32(k)]
		case parallel && first < int32(k):
			s.after = all[first].after
		default:
			s.after = slices.DeleteFunc(ends, func(d int32) bool { return awaited[d] })
			ends = nil
		}
		for _, d := range s.after {
			awaited[d] = true
		}
		ends = append(ends, int32(k))
	}
	of := make([]int32, len(b.in.Phase))
	for i, k := range b.in.Phase {
		of[i] = k - 1
	}
	b.wall(all, of)
}

// inParallel returns the phases that a sentence says proceed in parallel: those that it names, or all stories.
func (n *names) inParallel(text string) (list []int32) {
	lower := strings.ToLower(text)
	for _, word := range [...]string{"[p]", "within", "not ", "n't", "never", "cannot", "tests", "models", "不能", "不可", "nicht"} {
		if strings.Contains(lower, word) {
			return nil
		}
	}
	if !containsAny(lower, "parallel", "concurrently", "simultaneously", "independently of each other", "并行", "並行", "並列", "병렬", "параллельно") {
		return nil
	}
	words := strings.FieldsFunc(lower, func(r rune) bool { return r < utf8.RuneSelf && !lex.IsLetter(byte(r)) && !lex.IsDigit(byte(r)) })
	for i, word := range words {
		if next := i + 1; (word == "phase" || word == "story") && next < len(words) {
			word += " " + words[next]
		} else if number := strings.TrimPrefix(word, "us"); number != word {
			word = "story " + number
		}
		if k, ok := n.places[word]; ok && strings.IndexByte(word, ' ') > 0 && !lex.IsLetter(word[len(word)-1]) && !slices.Contains(list, int32(k)) {
			list = append(list, int32(k))
		}
	}
	if len(list) > 1 || !containsAny(lower, "stories", "用户故事", "ユーザーストーリー") {
		slices.Sort(list)
		return list
	}
	return n.phaseList("user stories")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}
