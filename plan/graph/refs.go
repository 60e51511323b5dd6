package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"waybill/plan"
	"waybill/plan/lex"
)

// This file reads references to items: "1.1, 1.2", "Task 1 and Task 2 (reason)", "1-3", "Phase 2".

// widestRange limits the ids of one range, and mostExpanded those of all ranges and phases of a plan. Otherwise a small
// file could request much memory.
const (
	widestRange  = 256
	mostExpanded = 1 << 16
)

// names finds out what a text refers to.
type names struct {
	rows     *plan.Rows
	phases   []phase
	places   map[string]int // of the phases, by their names
	expanded int            // the number of ids from ranges and phases
}

// refs is what a list refers to.
type refs struct {
	ids     []string // known and unknown ids, with ranges expanded
	strange []string // entries that resolve to nothing and do not look like an id
	either  bool     // one of the entries is said to be enough
	all     bool     // all other items are meant
}

// read parses a list of references.
func (n *names) read(list string) (r refs) {
	list = lex.Trim(list)
	if inside, ok := strings.CutPrefix(list, "["); ok && strings.HasSuffix(inside, "]") {
		list = inside[:len(inside)-1]
	}
	for list != "" {
		part, rest, either := cutPart(list)
		r.either, list = r.either || either, rest
		if name := Bare(part); name != "" && !isNone(name) {
			n.refer(&r, name, hasTask(part))
		}
	}
	return r
}

// refer adds what one entry refers to. called means that the word Task precedes the name.
func (n *names) refer(r *refs, name string, called bool) {
	number := strings.TrimPrefix(name, "#")
	switch {
	case n.rows.Find(name) >= 0:
		r.ids = append(r.ids, name)
		return
	case lex.IsOneOf(strings.TrimSuffix(strings.ToLower(name), " tasks"), allWords):
		r.all = true
		return
	case number != name && (n.rows.Find(number) >= 0 || isID(number)):
		r.ids = append(r.ids, number)
		return
	}
	if first, last, ok := cutRange(name); ok && n.expand(r, first, last) {
		return
	}
	if k := n.phase(name); k >= 0 && n.expanded+len(n.phases[k].ids) <= mostExpanded {
		n.expanded += len(n.phases[k].ids)
		r.ids = append(r.ids, n.phases[k].ids...)
		return
	}
	word, rest, _ := strings.Cut(number, " ")
	id := strings.TrimRight(word, ".,;:)")
	stopped := len(id) < len(word) || rest != "" && strings.ContainsRune("-–—(:", firstRune(rest))
	known := n.rows.Find(id) >= 0
	switch {
	case isNone(word):
	case rest == "" && isID(number), !strings.ContainsAny(number, " ") && likeID(number):
		r.ids = append(r.ids, number)
	case known && !isNumber(id) || isID(id) && (stopped || called):
		r.ids = append(r.ids, id)
	default:
		r.strange = append(r.strange, name)
	}
}

// allWords mean all other items.
const allWords = " all everything alle alles tous todas todos tutti 全部 所有 全て すべて 전체 все "

// taskWords precede an id in a reference.
var taskWords = [...]string{"Tasks ", "Task ", "Groups ", "Group ", "任务", "タスク", "Aufgabe "}

func hasTask(part string) bool {
	part = strings.TrimLeft(part, " *`[\"")
	return slices.ContainsFunc(taskWords[:], func(word string) bool { return lex.BeginsWith(part, word) })
}

// Bare removes the decoration from a reference, such as "Task 2 (the model)".
func Bare(s string) string {
	s = lex.Trim(s)
	if link, _, ok := strings.Cut(strings.TrimPrefix(s, "["), "]("); ok && s[0] == '[' {
		s = link
	}
	for _, remark := range [...]string{" (", "（"} {
		if i := strings.Index(s, remark); i >= 0 {
			s = s[:i]
		}
	}
	s = strings.Trim(strings.TrimPrefix(strings.ReplaceAll(lex.Trim(s), "`", ""), "and "), "*\"[]")
	for _, word := range taskWords {
		if rest, ok := lex.CutPrefixFold(s, word); ok && lex.Trim(rest) != "" {
			s = lex.Trim(rest)
		}
	}
	return strings.TrimRight(lex.Trim(s), ".;\\。_")
}

// expand adds the ids from first to last, and reports whether that is a valid range within the limits. The ids may
// differ only in their last number, and keep its leading zeros.
func (n *names) expand(r *refs, first, last string) bool {
	stem := stemOf(first)
	if end, ok := strings.CutPrefix(last, stem); ok {
		last = end
	}
	first = first[len(stem):]
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
		r.ids = append(r.ids, fmt.Sprintf("%s%0*d", stem, width, i))
	}
	return true
}

// stemOf returns an id without the number at its end.
func stemOf(id string) string { return strings.TrimRight(id, "0123456789") }

// cutRange reads "1-3", "1.1–1.4", "T001-003" and "Task 1 to Task 3".
func cutRange(s string) (first, last string, ok bool) {
	if len(s) > 2*lex.LongestID {
		return "", "", false
	}
	for _, word := range [...]string{" to ", " through ", " bis ", "–", "—", "~", "〜", "至", "..", "-"} {
		for at := strings.Index(s, word); at >= 0; {
			first, last = Bare(s[:at]), Bare(s[at+len(word):])
			if likeID(first) && (isID(last) || stemOf(first) != "" && strings.HasPrefix(last, stemOf(first))) {
				return first, last, true
			}
			next := strings.Index(s[at+1:], word)
			if at += next + 1; next < 0 {
				break
			}
		}
	}
	return "", "", false
}

func isRange(s string) bool {
	first, last, ok := cutRange(s)
	return ok && isID(first) && isID(last)
}

// isID reports whether s has the shape of an id that plans of any tool use: groups of digits joined by dots, or T012.
func isID(s string) bool {
	if rest := strings.TrimLeft(s, "Tt"); len(s)-len(rest) == 1 {
		s = rest
	}
	digit := false
	for i := range len(s) {
		switch c := s[i]; {
		case lex.IsDigit(c):
			digit = true
		case !digit || c != '.' && !(lex.IsLetter(c) && (i+1 == len(s) || s[i+1] == '.')) || c == '.' && i+1 == len(s):
			return false
		default:
			digit = c != '.'
		}
	}
	return s != "" && lex.IsDigit(s[0])
}

// likeID reports whether s is one word with a digit, such as TASK-INF-001.
func likeID(s string) bool {
	return strings.ContainsAny(s, "0123456789") && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf || !lex.IsLetter(byte(r)) && !lex.IsDigit(byte(r)) && !strings.ContainsRune("._-/#:", r)
	})
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// OnlyIDs reports whether a list consists of ids and ranges, or says that there is none.
func OnlyIDs(list string) bool {
	for list = lex.Trim(list); list != ""; {
		part, rest, _ := cutPart(list)
		if name := Bare(part); !isID(name) && !isRange(name) && !isNone(name) {
			return false
		}
		list = lex.Trim(rest)
	}
	return true
}
