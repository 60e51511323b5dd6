package ledger

import (
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
// says nothing.
func CriteriaOf(it Item, all []Criterion) []Criterion {
	var n naming
	for _, name := range it.Requirements {
		n.add(name)
	}
	if n.all {
		return cloned(all)
	}
	if len(n.ids)+len(n.ranges) == 0 {
		return nil
	}
	n.stories = slices.ContainsFunc(all, func(c Criterion) bool { return strings.HasPrefix(c.ID, storyLetters+"-") })
	var named []Criterion
	for i := range all {
		if n.has(&all[i]) {
			named = append(named, all[i])
		}
	}
	return named
}

// storyLetters are those of the criteria of a story, whose file may give them numbers alone.
const storyLetters = "AC"

// mostRanges bounds the ranges that one item names. More are a text that looks like ranges.
const mostRanges = 100

// A naming is what an item names.
type naming struct {
	all     bool
	ids     map[string]bool // their keys
	ranges  []idRange
	stories bool // some criterion has storyLetters in its id
}

// An idRange is what lies between two ids that differ in their last number alone.
type idRange struct {
	first reqID
	last  int
}

func (n *naming) add(name string) {
	name = strings.Trim(name, " \t*_`[]().,:;\"'")
	for _, word := range [...]string{"requirements ", "requirement ", "req "} {
		if len(name) > len(word) && equalWord(name[:len(word)], word) {
			name = trim(name[len(word):])
		}
	}
	if equalWord(name, "all") || equalWord(name, storyLetters+" all") {
		n.all = true
		return
	}
	if id, ok := readReqID(name); ok {
		if n.ids == nil {
			n.ids = map[string]bool{}
		}
		n.ids[id.key()] = true
		return
	}
	if r, ok := readRange(name); ok && len(n.ranges) < mostRanges {
		n.ranges = append(n.ranges, r)
	}
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

// has reports whether a criterion is named.
func (n *naming) has(c *Criterion) bool {
	if n.names(c.ID, "") || n.names(c.Requirement, "") {
		return true
	}
	return c.Requirement == "" && !n.stories && n.names(c.ID, storyLetters)
}

// names reports whether an id is named, or the beginning of it. One without letters may be taken for one with them.
func (n *naming) names(text, letters string) bool {
	id, ok := readReqID(text)
	if !ok || letters != "" && id.letters != "" {
		return false
	}
	if letters != "" {
		id.letters = letters
	}
	for i := range id.numbers {
		if n.ids[id.prefix(i+1)] {
			return true
		}
	}
	return slices.ContainsFunc(n.ranges, func(r idRange) bool { return r.has(&id) })
}

func (r *idRange) has(id *reqID) bool {
	n := len(r.first.numbers)
	if id.letters != r.first.letters || len(id.numbers) < n || !slices.Equal(id.numbers[:n-1], r.first.numbers[:n-1]) {
		return false
	}
	return r.first.numbers[n-1] <= id.numbers[n-1] && id.numbers[n-1] <= r.last
}
