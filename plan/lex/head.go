package lex

import (
	"strings"
	"unicode/utf8"

	"waybill/plan"
)

// Head is a parsed heading of a task.
type Head struct {
	ID, Title string // the id is "" in "Task: Compost log"
	Said      Said   // its status is 0 if the heading has none
	Group     bool   // it is a task group
	Withdrawn bool   // it is struck through
}

// Said is a status and its position: a word, a sign or both, without brackets.
type Said struct {
	Status   plan.Status
	From, To int // a range of the parsed text
}

// TaskHead parses the text of a heading. ok is false if it is not a task.
func TaskHead(text string) (h Head, ok bool) { return headAs(text, taskNamed) }

// headAs parses the text of a heading whose beginning named parses. Head is passed by value, so that no memory is
// allocated for a heading.
func headAs(text string, named func(h Head, text string) (Head, string, bool)) (h Head, ok bool) {
	whole := text
	text, h.Withdrawn = CutStruck(text)
	if strings.IndexByte(text, '*') >= 0 {
		text = strings.ReplaceAll(text, Bold, "")
	}
	text = TrimRight(text)
	width := len(text)
	text = h.Said.cut(text, true)
	if !h.Withdrawn {
		text, h.Withdrawn = CutStruck(text) // "~~Task 2: Compost log~~ (done)"
	}
	if text != "" && !IsLetter(text[0]) {
		text = strings.TrimLeftFunc(text, NotInWord)
	}
	h, rest, ok := named(h, text)
	if !ok {
		return Head{}, false
	}
	h.entitle(rest, width)
	if h.Said.Status != 0 {
		h.Said.within(whole)
	}
	if h.Title == "" {
		h.Title = text
	}
	inside, withdrawn := CutStruck(h.Title)
	h.Title, h.Withdrawn = inside, h.Withdrawn || withdrawn
	return h, true
}

// taskNamed parses "Task 2", "Task Group 2" and "Task:".
func taskNamed(h Head, text string) (named Head, rest string, ok bool) {
	rest, ok = CutWord(text, "Task")
	if !ok {
		return h, "", false
	}
	if title, unnumbered := strings.CutPrefix(rest, ":"); unnumbered {
		return h, title, Trim(title) != ""
	}
	if after, found := CutWord(Trim(rest), "Group"); found {
		h.Group, rest = true, after
	}
	h.ID, rest = headID(strings.TrimPrefix(Trim(rest), "#"))
	return h, rest, h.ID != ""
}

// entitle parses the text after the id, which may begin or end with a status. It is the end of a text with this width.
func (h *Head) entitle(rest string, width int) {
	h.Title = afterDashes(rest)
	if h.Said.Status != 0 {
		return
	}
	before := width - len(h.Title)
	h.Title = afterDashes(h.Said.cut(h.Title, false))
	h.Said.From, h.Said.To = h.Said.From+before, h.Said.To+before
}

// dashes separate a status, an id and a title.
const dashes = "-–—: \t"

func afterDashes(s string) string {
	if s != "" && InWord(s[0]) && s[0] < utf8.RuneSelf {
		return s
	}
	return strings.TrimLeft(s, dashes)
}

// cut removes a status from either end of a text and records its position.
func (s *Said) cut(text string, whole bool) (rest string) {
	rest, s.Status = cutStatus(text, whole)
	if s.Status == 0 {
		return rest
	}
	at, off := 0, strings.TrimSuffix(text, rest)
	if off == text && rest != "" {
		at, off = len(rest), text[len(rest):]
	}
	from, to := sayingIn(off)
	s.From, s.To = at+from, at+to
	return rest
}

// sayingIn returns the range of the word or sign in the removed text, without brackets and without a date.
func sayingIn(off string) (from, to int) {
	from, to = len(off)-len(strings.TrimLeft(off, dashes)), len(strings.TrimRight(off, dashes))
	if from < to && (off[from] == '(' || off[from] == '[') {
		isBox := off[from] == '['
		if from, to = from+1, to-1; isBox && boxed(off[from:to]) != 0 {
			return from, to
		}
	}
	inside := off[from:to]
	from, inside = from+len(inside)-len(strings.TrimLeft(inside, " \t")), Trim(inside)
	if last := strings.LastIndexByte(inside, ' '); last > 0 && IsDate(inside[last+1:]) {
		inside = strings.TrimRight(inside[:last], " ,:-")
	}
	return from, from + len(inside)
}

// within converts the range to one of the text with its bold type.
func (s *Said) within(text string) {
	from, to, at := s.From, s.To, 0
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], Bold) {
			i += len(Bold) - 1
			continue
		}
		if at == from {
			s.From = i
		}
		if at++; at == to {
			s.To = i + 1
			return
		}
	}
}

// AlmostHead reports whether a heading resembles a task without being one.
func AlmostHead(text string) bool {
	rest, ok := CutWord(text, "Task")
	rest = strings.TrimLeft(rest, " #")
	return ok && rest != "" && IsDigit(rest[0])
}

// headID parses "1.2", "B" or "B2". A letter needs a stop or a dash after it, because it may be a word.
func headID(s string) (id, rest string) {
	if id, end, _ := ReadID(s); id != "" {
		return id, Trim(s[end:])
	}
	if s == "" || !IsUpper(s[0]) {
		return "", s
	}
	end := 1
	for end < len(s) && end < LongestID && (IsDigit(s[end]) || s[end] == '.' && end+1 < len(s) && IsDigit(s[end+1])) {
		end++
	}
	rest = Trim(s[end:])
	for _, stop := range [...]string{":", ".", ")", "-", "–", "—"} {
		if strings.HasPrefix(rest, stop) {
			return s[:end], Trim(rest[len(stop):])
		}
	}
	if rest == "" {
		return s[:end], ""
	}
	return "", s
}

func numberNamed(h Head, text string) (named Head, rest string, ok bool) {
	id, end, _ := ReadID(text)
	if end == len(id) && strings.IndexByte(id, '.') < 0 {
		return h, "", false
	}
	h.ID, rest = id, Trim(text[end:])
	return h, rest, rest != ""
}

// NumberHead reads the text of a heading such as "1.1 Model" or "1. Model". A number alone may count something:
// "3 columns".
func NumberHead(text string) (h Head, ok bool) { return headAs(text, numberNamed) }

// topicWords show that the title is about a status, and after leadWords a sentence is not complete.
const (
	topicWords = " mark marks checkmark check tick sign signs emoji emojis icon icons symbol symbols character glyph box checkbox" +
		" state states status statuses label labels badge badges button buttons flag flags option options value values word words column field x "
	leadWords = " a an the with to into as by of for from in on and or is are "
)

// cutStatus removes a status from either end of a text: "(COMPLETED)", "[x]", "✅" and "✅ COMPLETED". whole means that
// the text begins before the word Task, and not after the number.
func cutStatus(text string, whole bool) (rest string, status plan.Status) {
	if rest, status = cutStatusBefore(text, whole); status != 0 {
		return rest, status
	}
	return cutStatusBehind(text)
}

// cutStatusBefore removes a status from the beginning. After the number, a word in brackets is part of the title,
// unless a colon or a dash follows it: "Task 1 (DONE): Seed".
func cutStatusBefore(text string, whole bool) (rest string, status plan.Status) {
	for _, pair := range [...]string{"()", "[]"} {
		if text == "" || text[0] != pair[0] {
			continue
		}
		end := strings.IndexByte(text, pair[1])
		if end < 0 {
			continue
		}
		inside, after := text[1:end], text[end+1:]
		if after != "" && BlankAt(after, 0) == 0 && after[0] != ':' {
			continue
		}
		isBox := pair == "[]" && boxed(inside) != 0
		if after = Trim(after); isBox || whole || after == "" || strings.TrimLeft(after, ":-–—") != after {
			if status = statusIn(inside, pair); status != 0 {
				return after, status
			}
		}
	}
	if sign, after := CutHeadSign(text); sign != 0 && (whole || !HasHeadSign(after) && !IsOneOf(FirstWord(after), topicWords)) {
		return Trim(after), sign
	}
	return text, 0
}

// cutStatusBehind removes a status from the end.
func cutStatusBehind(text string) (rest string, status plan.Status) {
	if text == "" {
		return text, 0
	}
	ascii, last := IsASCII(text), text[len(text)-1]
	if ascii && last != ')' && last != ']' {
		return text, 0
	}
	for _, pair := range [...]string{"()", "[]"} {
		at := strings.LastIndexByte(text, pair[0])
		if at < 1 || text[len(text)-1] != pair[1] || TrimRight(text[:at]) == text[:at] {
			continue
		}
		if status = statusIn(text[at+1:len(text)-1], pair); status != 0 {
			return unlessTopic(text, at, status, false)
		}
	}
	if ascii {
		return text, 0 // no sign is ASCII; this avoids a costly search for each sign
	}
	for i := range Signs {
		at := strings.LastIndex(text, Signs[i].Text)
		if at < 1 || !Signs[i].Head {
			continue
		}
		if sign, after := CutHeadSign(text[at:]); Trim(after) == "" || WordFor(Trim(after), InTitle) != 0 {
			return unlessTopic(text, at, sign, true)
		}
	}
	return text, 0
}

// unlessTopic removes a status from the end of a text, unless the words before it show that the title is about a
// status. A sign may also be a word of the sentence, as in "Replace it with ✅". A title of one word is not a sentence.
func unlessTopic(text string, at int, status plan.Status, sign bool) (string, plan.Status) {
	before := TrimRight(text[:at])
	if word := LastWord(before); IsOneOf(word, topicWords) || sign && (word != before && IsOneOf(word, leadWords) || HasHeadSign(before)) {
		return text, 0
	}
	return before, status
}

// statusIn parses the text in brackets: a checkbox, or only a status. A sign may precede the status, and a sign or a
// date may follow it.
func statusIn(inside, pair string) plan.Status {
	if status := boxed(inside); pair == "[]" && status != 0 {
		return status
	}
	sign, words := CutHeadSign(Trim(inside))
	words = Trim(words)
	if words == "" {
		return sign
	}
	if last := strings.LastIndexByte(words, ' '); last > 0 {
		if behind, none := CutHeadSign(words[last+1:]); IsDate(words[last+1:]) || behind != 0 && none == "" {
			words = strings.TrimRight(words[:last], " ,:-")
		}
	}
	return WordFor(words, InTitle)
}

// boxed returns the status for the mark in a checkbox, or 0.
func boxed(inside string) plan.Status {
	switch {
	case inside == "x" || inside == "X":
		return plan.Completed
	case inside != "" && Trim(inside) == "":
		return plan.Pending
	}
	return 0
}
