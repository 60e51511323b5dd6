package ledger

import (
	"maps"
	"slices"
	"strings"
)

// CriteriaOf gives those of the criteria of a file that an item names as its requirements, in the order of the
// file and each once. It is nil if none is named.
//
// "1.2" names the criterion with this id and those whose id goes on with it, and "1" all criteria of requirement
// 1, whether they have ids or not. So it is with ids of letters: "FR-004" is "FR-4". "1.1-1.3", "FR-001 to FR-003"
// and "AC 1-3" name what lies between two ids of one kind, with both. "All" names everything. "AC 2" names 2 below
// no requirement, too, where no criterion has such letters in its id. A word such as "Requirement" before an id
// says nothing, nor do R and REQ before a number where no id of the file has them, nor does a remark in brackets
// behind it. "1.1 and 1.2", "1.1; 1.2" and "1.1/1.2" are two names.
//
// Unmet are the names that nothing in the file has, as the item has them.
func CriteriaOf(it Item, all []Criterion) (named []Criterion, unmet []string) {
	var n naming
	for _, name := range it.Requirements {
		n.add(name)
	}
	if n.all {
		return cloned(all), nil
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

// storyLetters are those of the criteria of a story, whose file may give them numbers alone.
const storyLetters = "AC"

// mostRanges bounds the ranges that one item names. More are a text that looks like ranges.
const mostRanges = 100

// A naming is what an item names.
type naming struct {
	all     bool
	ids     map[string]*wantedName // by their keys
	ranges  []wantedRange
	strange []string // names that are no ids
	stories bool     // some criterion has storyLetters in its id
	bare    []string // letters that stand for the word Requirement before a number, as nothing has them in its id
}

// A wantedName is a name as the item has it.
type wantedName struct {
	name string
	met  bool // some criterion has it
}

type wantedRange struct {
	wantedName
	idRange
}

// An idRange is what lies between two ids that differ in their last number alone.
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
		n.ids[id.key()] = &wantedName{name: trim(written)}
	case isRange && len(n.ranges) < mostRanges:
		n.ranges = append(n.ranges, wantedRange{wantedName{name: trim(written)}, r})
	case (isRange || !n.addEach(name)) && !saysNone(written):
		n.strange = append(n.strange, trim(written))
	}
}

// unmet gives the names that no criterion has, in the order of their kinds and letters.
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

// addEach adds the names that a text has several of: "1.1 and 1.2", "1.1; 1.2", "1.1/1.2". It reports whether it has.
func (n *naming) addEach(names string) bool {
	names = strings.ReplaceAll(names, " and ", ";")
	if !strings.ContainsAny(names, ";&/,") {
		return false
	}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return strings.ContainsRune(";&/,", r) }) {
		if name = bareName(name); !strings.Contains(name, " and ") { // else they would be looked at for ever
			n.add(name)
		}
	}
	return true
}

// bareName gives a name without the marks around it, the remark in brackets behind it, the link that it is, and words
// such as "Requirement" before it.
func bareName(name string) string {
	const marks = " \t*_`[]().,:;\"'"
	name = strings.Trim(name, marks)
	if text, _, isLink := strings.Cut(name, "]("); isLink {
		name = strings.Trim(text, marks)
	} else if text, _, remark := strings.Cut(name, " ("); remark {
		name = strings.Trim(text, marks)
	}
	for _, word := range [...]string{"requirements ", "requirement ", "req "} {
		if len(name) > len(word) && equalWord(name[:len(word)], word) {
			name = trim(name[len(word):])
		}
	}
	return name
}

func namesAll(name string) bool {
	for _, all := range [...]string{"all", storyLetters + " all", "all requirements", "all criteria", "all acceptance criteria"} {
		if equalWord(name, all) {
			return true
		}
	}
	return false
}

// NamesNoCriteria reports whether an item names no requirement, or says in words that it has none.
func NamesNoCriteria(it Item) bool {
	return !slices.ContainsFunc(it.Requirements, func(name string) bool { return !saysNone(name) })
}

func saysNone(name string) bool {
	name = strings.Trim(name, " \t*_`[]().,:;\"'-–—")
	return name == "" || equalWord(name, "none") || equalWord(name, "n/a") || equalWord(name, "not applicable")
}

// longestRange is in bytes; two ids with a sign between them are not longer.
const longestRange = 96

// readRange reads "1.1-1.3", "1.1-3", "FR-001–FR-003" and the like.
func readRange(s string) (r idRange, ok bool) {
	if len(s) > longestRange {
		return idRange{}, false
	}
	for i := range s {
		for _, sign := range [...]string{"–", "—", "..", " to ", "-"} {
			if !strings.HasPrefix(s[i:], sign) {
				continue
			}
			first, begins := readReqID(trim(s[:i]))
			last, ends := readReqID(trim(s[i+len(sign):]))
			if begins && ends && first.reaches(&last) {
				return idRange{first, last.numbers[len(last.numbers)-1]}, true
			}
		}
	}
	return idRange{}, false
}

// reaches reports whether a range goes from one id to another, which may be its last number alone.
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

// has reports whether a criterion is named, and notes all names that it has.
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

// names reports whether an id is named, or the beginning of it. One without letters may be taken for one with them.
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
