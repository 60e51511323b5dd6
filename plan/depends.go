package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file reads the dependencies of an item and checks them.

// widestRange limits the ids of one range, and mostExpanded those of all ranges of a file. Otherwise a small file
// could request much memory.
const (
	widestRange  = 256
	mostExpanded = 1 << 16
)

// dependsOn introduces a dependency in a sentence.
const dependsOn = "depends on"

// saidSo is the part of dependsOn that begins with its rarest letter, in both cases. The whole plan is searched for it
// once.
var saidSo = [...]string{"pends on", "PENDS ON"}

// wait adds dependencies to the current item.
func (n *numbered) wait(ids []string) {
	last := len(n.r.waits) - 1
	switch {
	case len(ids) == 0:
	case last >= 0 && n.r.waits[last].item == int32(n.owner):
		n.r.waits[last].ids = append(n.r.waits[last].ids, ids...)
	default:
		n.r.waits = append(n.r.waits, wait{item: int32(n.owner), ids: ids})
	}
}

// waitFor adds dependencies to an item above the current one.
func (n *numbered) waitFor(item int32, ids []string) {
	if len(ids) == 0 {
		return
	}
	at, found := slices.BinarySearchFunc(n.r.waits, item, func(w wait, item int32) int { return int(w.item - item) })
	if !found {
		n.r.waits = slices.Insert(n.r.waits, at, wait{item: item})
	}
	n.r.waits[at].ids = append(n.r.waits[at].ids, ids...)
}

// splitDependencies pushes the ids in value: "1.1, 1.2", "Task 1 and Task 2 (reason)", "1-3", or a word for none.
func (n *numbered) splitDependencies(value string) {
	if inside, ok := enclosed(value, "[", "]"); ok {
		value = inside
	}
	if strings.IndexByte(value, ';') >= 0 {
		value = strings.ReplaceAll(value, ";", ",")
	}
	for value != "" {
		var part string
		part, value, _ = cutList(value)
		for part != "" {
			var one string
			whole := part
			one, part = cutAnd(part)
			n.either = n.either || whole[len(one):len(whole)-len(part)] == orWord
			n.dependency(bareID(one))
		}
	}
}

// enclosed removes the delimiters around s, if it has both.
func enclosed(s, opening, closing string) (inside string, ok bool) {
	inside, ok = strings.CutPrefix(s, opening)
	if !ok || !strings.HasSuffix(inside, closing) {
		return s, false
	}
	return strings.TrimSuffix(inside, closing), true
}

func (n *numbered) dependency(id string) {
	if n.g.headed {
		id = reference(id)
	}
	if rest, ok := strings.CutPrefix(id, "#"); ok && n.g != &tableGrammar && isID(rest) {
		id = rest
	}
	if id == "" || isNone(id) {
		return
	}
	if first, last, ok := cutRange(id); !ok || !n.expand(first, last) {
		n.lists.push(id)
	}
}

// remarked reads a line that begins with "Depends on 1.2". The line also stays a detail, because more text may follow
// the ids.
func (n *numbered) remarked(text string) {
	if n.item != nil || n.again > 0 {
		return
	}
	const blockedBy = "blocked by "
	text = strings.TrimLeft(text, "(*")
	switch {
	case beginsWith(text, dependsOn):
		n.splitDependencies(mentioned(text))
	case beginsWith(text, blockedBy) && onlyIDs(strings.TrimRight(text[len(blockedBy):], ".)")):
		n.splitDependencies(strings.TrimRight(text[len(blockedBy):], ".)"))
	default:
		return
	}
	n.wait(n.lists.take())
	n.alternatives(n.owner)
}

// alternatives reports that an item waits for all of several ids, although the plan says "or".
func (n *numbered) alternatives(item int) {
	if n.either && n.item == nil && item >= 0 {
		n.about(int32(item), SeverityInfo, "dependency_alternatives",
			fmt.Sprintf("%s is said to wait for one item or another: it waits for both", n.r.entries[item].id))
	}
	n.either = false
}

// orWord separates ids of which one is enough.
const orWord = " or "

// cutAnd splits "1 and 2", "1 & 2" and "1 or 2" at the word, unless the word is in a remark.
func cutAnd(s string) (part, rest string) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		case ' ':
			if depth > 0 {
				continue
			}
			for _, word := range [...]string{" and ", " & ", orWord} {
				if strings.HasPrefix(s[i:], word) {
					return s[:i], s[i+len(word):]
				}
			}
		}
	}
	return s, ""
}

// bareID removes the decoration from a reference.
func bareID(s string) string {
	if i := strings.Index(s, " ("); i >= 0 {
		s = s[:i]
	}
	s = strings.Trim(strings.TrimPrefix(trim(s), "and "), "`*")
	if inside, ok := enclosed(s, `"`, `"`); ok {
		s = inside
	}
	for _, word := range [...]string{"Task Groups ", "Task Group ", "Tasks ", "Task "} {
		if len(s) > len(word) && equalWord(s[:len(word)], word) {
			s = trim(s[len(word):])
		}
	}
	return strings.TrimRight(trim(s), ".;\\")
}

func isNone(s string) bool {
	return s == "-" || s == "–" || s == "—" || equalWord(s, "none") || equalWord(s, "n/a")
}

// cutRange reads "1-3", "1.1–1.4" and "Task 1 to Task 3".
func cutRange(s string) (first, last string, ok bool) {
	for _, word := range [...]string{"-", "–", "—", " to ", " through "} {
		if first, last, ok = strings.Cut(s, word); ok {
			first, last = bareID(first), bareID(last)
			return first, last, isID(first) && isID(last)
		}
	}
	return "", "", false
}

func isID(s string) bool {
	end, _ := groups(s)
	return end == len(s) && end > 0 || isTaskID(s)
}

// expand pushes the ids from first to last, and reports whether that is a valid range within the limits. The ids may
// differ only in their last number, and keep its leading zeros.
func (n *numbered) expand(first, last string) bool {
	stem := strings.TrimRight(first, "0123456789")
	if stem != strings.TrimRight(last, "0123456789") {
		return false
	}
	first, last = first[len(stem):], last[len(stem):]
	from, errFrom := strconv.Atoi(first)
	to, errTo := strconv.Atoi(last)
	if errFrom != nil || errTo != nil || to < from || to-from >= min(widestRange, mostExpanded-n.expanded) {
		return false
	}
	n.expanded += to - from + 1
	width := 0
	if first[0] == '0' {
		width = len(first)
	}
	for i := from; i <= to; i++ {
		n.lists.push(fmt.Sprintf("%s%0*d", stem, width, i))
	}
	return true
}
