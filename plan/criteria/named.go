package criteria

import (
	"maps"
	"slices"
	"strings"

	"waybill/plan/lex"
)

// Named returns the criteria that an item names as its requirements, each once, in file order. It returns nil if the
// item names none. unmet are the names without a criterion, as the item spells them.
//
//   - "1.2" names the criterion with this id and those whose id continues it. "1" names all criteria of requirement 1,
//     with or without ids.
//   - "FR-004" is the same id as "FR-4".
//   - "1.1-1.3", "FR-001 to FR-003" and "AC 1-3" name both ids and all ids of the same kind between them.
//   - "All" names all criteria.
//   - "AC 2" also names a criterion 2 outside a requirement, if no id in the file has the letters AC.
//   - "1.1 and 1.2", "1.1; 1.2" and "1.1/1.2" are two names each.
//   - Words such as "Requirement" before an id are skipped, and so is a remark in brackets after it. R and REQ before a
//     number are skipped if no id in the file has them.
func Named(requirements []string, all []Criterion) (named []Criterion, unmet []string) {
	var n naming
	for _, name := range requirements {
		n.add(name)
	}
	if n.all {
		return append([]Criterion(nil), all...), nil
	}
	has := func(letters string) bool {
		return slices.ContainsFunc(all, func(c Criterion) bool {
			return strings.HasPrefix(c.ID, letters+"-") || strings.HasPrefix(c.Requirement, letters+"-")
		})
	}
	n.stories = has(storyLetters)
	for _, letters := range [...]string{"R", "REQ"} {
		if !has(letters) {
			n.bare = append(n.bare, letters)
		}
	}
	for i := range all {
		if n.has(&all[i]) {
			named = append(named, all[i])
		}
	}
	return named, n.unmet()
}

// storyLetters are the letters of the acceptance criteria of a user story. Some files number these without letters.
const storyLetters = "AC"

// mostRanges limits the ranges that one item can name. A text with more only looks like ranges.
const mostRanges = 100

// A naming is the parsed list of names of an item.
type naming struct {
	all     bool
	ids     map[string]*wantedName // by key
	ranges  []wantedRange
	strange []string // names that are not ids
	stories bool     // some id in the file has storyLetters
	bare    []string // letters that mean "Requirement" before a number, because no id has them
}

// A wantedName is a name in the spelling of the item.
type wantedName struct {
	name string
	met  bool // a criterion has it
}

type wantedRange struct {
	wantedName
	idRange
}

// An idRange is the range of ids that begin like first and end with a number from that of first to last.
type idRange struct {
	first reqID
	last  int
}

func (n *naming) add(written string) {
	name := bareName(written)
	id, isID := readReqID(name)
	r, isRange := readRange(name)
	switch {
	case namesAll(name):
		n.all = true
	case isID:
		if n.ids == nil {
			n.ids = map[string]*wantedName{}
		}
		n.ids[id.key()] = &wantedName{name: lex.Trim(written)}
	case isRange && len(n.ranges) < mostRanges:
		n.ranges = append(n.ranges, wantedRange{wantedName{name: lex.Trim(written)}, r})
	case (isRange || !n.addEach(name)) && !saysNone(written):
		n.strange = append(n.strange, lex.Trim(written))
	}
}

// unmet returns the names without a criterion: first names that are not ids, then ids by key, then ranges.
func (n *naming) unmet() []string {
	list := n.strange
	for _, key := range slices.Sorted(maps.Keys(n.ids)) {
		if m := n.ids[key]; !m.met {
			list = append(list, m.name)
		}
	}
	for _, r := range n.ranges {
		if !r.met {
			list = append(list, r.name)
		}
	}
	return list
}

// addEach splits a list of names, such as "1.1 and 1.2", "1.1; 1.2" or "1.1/1.2", and adds each. It returns false for
// a text that is not a list.
func (n *naming) addEach(names string) bool {
	names = strings.ReplaceAll(names, " and ", ";")
	if !strings.ContainsAny(names, ";&/,") {
		return false
	}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return strings.ContainsRune(";&/,", r) }) {
		if name = bareName(name); !strings.Contains(name, " and ") { // prevents endless recursion
			n.add(name)
		}
	}
	return true
}

// bareName returns a name without punctuation and link around it, without a remark in brackets after it, and without
// words such as "Requirement" before it.
func bareName(name string) string {
	const marks = " \t*_`[]().,:;\"'"
	name = strings.Trim(name, marks)
	if text, _, isLink := strings.Cut(name, "]("); isLink {
		name = strings.Trim(text, marks)
	} else if text, _, remark := strings.Cut(name, " ("); remark {
		name = strings.Trim(text, marks)
	}
	for _, word := range [...]string{"requirements ", "requirement ", "req "} {
		if len(name) > len(word) && lex.EqualWord(name[:len(word)], word) {
			name = lex.Trim(name[len(word):])
		}
	}
	return name
}

func namesAll(name string) bool {
	for _, all := range [...]string{"all", storyLetters + " all", "all requirements", "all criteria", "all acceptance criteria"} {
		if lex.EqualWord(name, all) {
			return true
		}
	}
	return false
}

// NamesNone reports whether the item names no requirement, or only words such as "none".
func NamesNone(requirements []string) bool {
	return !slices.ContainsFunc(requirements, func(name string) bool { return !saysNone(name) })
}

func saysNone(name string) bool {
	name = strings.Trim(name, " \t*_`[]().,:;\"'-–—")
	return name == "" || lex.EqualWord(name, "none") || lex.EqualWord(name, "n/a") || lex.EqualWord(name, "not applicable")
}

// longestRange is the maximum length of a range in bytes, enough for two ids with a sign between them.
const longestRange = 96

// readRange parses "1.1-1.3", "1.1-3", "FR-001–FR-003" and similar ranges.
func readRange(s string) (r idRange, ok bool) {
	if len(s) > longestRange {
		return idRange{}, false
	}
	for i := range s {
		for _, sign := range [...]string{"–", "—", "..", " to ", "-"} {
			if !strings.HasPrefix(s[i:], sign) {
				continue
			}
			first, begins := readReqID(lex.Trim(s[:i]))
			last, ends := readReqID(lex.Trim(s[i+len(sign):]))
			if begins && ends && first.reaches(&last) {
				return idRange{first, last.numbers[len(last.numbers)-1]}, true
			}
		}
	}
	return idRange{}, false
}

// reaches reports whether a range from id to last is valid. last may be only the last number.
func (id *reqID) reaches(last *reqID) bool {
	n, end := len(id.numbers), last.numbers[len(last.numbers)-1]
	switch {
	case end < id.numbers[n-1]:
		return false
	case last.letters == "" && len(last.numbers) == 1:
		return true
	}
	return last.letters == id.letters && len(last.numbers) == n && slices.Equal(last.numbers[:n-1], id.numbers[:n-1])
}

// has reports whether the item names the criterion, and marks all its matching names as met.
func (n *naming) has(c *Criterion) (is bool) {
	names := func(text, letters string) { is = n.names(text, letters) || is }
	names(c.ID, "")
	names(c.Requirement, "")
	for _, letters := range n.bare {
		names(c.ID, letters)
		names(c.Requirement, letters)
	}
	if c.Requirement == "" && !n.stories {
		names(c.ID, storyLetters)
	}
	return is
}

// names reports whether the item names an id or a prefix of it. For an id without letters, names can assume letters.
func (n *naming) names(text, letters string) (is bool) {
	id, ok := readReqID(text)
	if !ok || letters != "" && id.letters != "" {
		return false
	}
	if letters != "" {
		id.letters = letters
	}
	for i := range id.numbers {
		if m := n.ids[id.prefix(i+1)]; m != nil {
			m.met, is = true, true
		}
	}
	for i := range n.ranges {
		if r := &n.ranges[i]; r.has(&id) {
			r.met, is = true, true
		}
	}
	return is
}

func (r *idRange) has(id *reqID) bool {
	n := len(r.first.numbers)
	if id.letters != r.first.letters || len(id.numbers) < n || !slices.Equal(id.numbers[:n-1], r.first.numbers[:n-1]) {
		return false
	}
	return r.first.numbers[n-1] <= id.numbers[n-1] && id.numbers[n-1] <= r.last
}
