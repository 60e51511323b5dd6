package ledger

import (
	"strings"
	"unicode"
)

// This file reads what the heading of a task says about its status. Most words that may stand for one are also
// words that a task may be about, so one counts only where nothing but a status can be meant: "Solve f(x)", "Add an
// option (done: bool)" and "Draw the check mark ✅" say nothing.

// headSigns stand for a status in a heading.
var headSigns = [...]struct {
	text   string
	status Status
}{
	{"✅", Completed},
	{"✔", Completed},
	{"☑", Completed},
	{"⏳", InProgress},
	{"🚧", InProgress},
	{"🔄", InProgress},
}

// topicWords are those beside which a status is what the task is about, and leadWords those behind which a sentence
// has not ended.
const (
	topicWords = " mark marks checkmark check tick sign signs emoji emojis icon icons symbol symbols character glyph box checkbox" +
		" state states status statuses label labels badge badges button buttons flag flags option options value values word words column field x "
	leadWords = " a an the with to into as by of for from in on and or is are "
)

// cutStatus cuts a status off either end of a text: "(COMPLETED)", "[x]", "✅" and "✅ COMPLETED". A text that is whole
// begins before the word Task, and another one behind the number.
func cutStatus(text string, whole bool) (rest string, status Status) {
	if rest, status = cutStatusBefore(text, whole); status != 0 {
		return rest, status
	}
	return cutStatusBehind(text)
}

// cutStatusBefore cuts it off the front. Behind the number, a word in brackets begins the title, unless a colon or a dash
// stands between the two: "Task 1 (DONE): Seed".
func cutStatusBefore(text string, whole bool) (rest string, status Status) {
	for _, pair := range [...]string{"()", "[]"} {
		end := strings.IndexByte(text, pair[1])
		if end < 0 || text[0] != pair[0] {
			continue
		}
		inside, after := text[1:end], text[end+1:]
		if after != "" && blankAt(after, 0) == 0 && after[0] != ':' {
			continue
		}
		isBox := pair == "[]" && boxed(inside) != 0
		if after = trim(after); isBox || whole || after == "" || strings.TrimLeft(after, ":-–—") != after {
			if status = statusIn(inside, pair); status != 0 {
				return after, status
			}
		}
	}
	if sign, after := cutSign(text); sign != 0 && (whole || !signed(after) && !isOneOf(firstWord(after), topicWords)) {
		return trim(after), sign
	}
	return text, 0
}

// cutStatusBehind cuts it off the end.
func cutStatusBehind(text string) (rest string, status Status) {
	for _, pair := range [...]string{"()", "[]"} {
		at := strings.LastIndexByte(text, pair[0])
		if at < 1 || text[len(text)-1] != pair[1] || trimRight(text[:at]) == text[:at] {
			continue
		}
		if status = statusIn(text[at+1:len(text)-1], pair); status != 0 {
			return unlessTopic(text, at, status, false)
		}
	}
	if isASCII(text) {
		return text, 0 // no sign is, and looking for each of them from the end is dear
	}
	for i := range headSigns {
		at := strings.LastIndex(text, headSigns[i].text)
		if at < 1 {
			continue
		}
		if sign, after := cutSign(text[at:]); trim(after) == "" || wordFor(trim(after), inTitle) != 0 {
			return unlessTopic(text, at, sign, true)
		}
	}
	return text, 0
}

// unlessTopic cuts a text at a status, unless what stands before it is about such things. A sign may also be a word
// of the sentence, "Replace it with ✅", which brackets never are.
func unlessTopic(text string, at int, status Status, sign bool) (string, Status) {
	before := trimRight(text[:at])
	if word := lastWord(before); isOneOf(word, topicWords) || sign && (isOneOf(word, leadWords) || signed(before)) {
		return text, 0
	}
	return before, status
}

// statusIn reads what stands in brackets: a box, or words that are a status as a whole, with or without a sign before
// them and a sign or a date behind.
func statusIn(inside, pair string) Status {
	if status := boxed(inside); pair == "[]" && status != 0 {
		return status
	}
	sign, words := cutSign(trim(inside))
	words = trim(words)
	if words == "" {
		return sign
	}
	if last := strings.LastIndexByte(words, ' '); last > 0 {
		if behind, none := cutSign(words[last+1:]); isDate(words[last+1:]) || behind != 0 && none == "" {
			words = strings.TrimRight(words[:last], " ,:-")
		}
	}
	return wordFor(words, inTitle)
}

// boxed reads what stands between the brackets of a box, 0 for none.
func boxed(inside string) Status {
	switch {
	case inside == "x" || inside == "X":
		return Completed
	case inside != "" && trim(inside) == "":
		return Pending
	}
	return 0
}

// cutSign cuts a sign off the front of s.
func cutSign(s string) (status Status, rest string) {
	for i := range headSigns {
		if after, ok := strings.CutPrefix(s, headSigns[i].text); ok {
			return headSigns[i].status, strings.TrimPrefix(after, selector)
		}
	}
	return 0, s
}

// signed reports whether a text has a sign, and so is about more than its status.
func signed(s string) bool {
	for i := range headSigns {
		if strings.Contains(s, headSigns[i].text) {
			return true
		}
	}
	return false
}

// isDate reports whether a word is a date: three numbers, one of which is a year.
func isDate(word string) bool {
	const longest = len("2026-01-02")
	if len(word) > longest {
		return false
	}
	for _, joint := range [...]string{"-", "/", "."} {
		parts := strings.Split(word, joint)
		if len(parts) != 3 || strings.Trim(strings.Join(parts, ""), "0123456789") != "" {
			continue
		}
		return parts[1] != "" && (len(parts[0]) == 4 && parts[2] != "" || len(parts[2]) == 4 && parts[0] != "")
	}
	return false
}

// isOneOf reports whether a word is one of a list.
func isOneOf(word, list string) bool {
	const longest = 16
	return word != "" && len(word) < longest && strings.Contains(list, " "+strings.ToLower(word)+" ")
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

func firstWord(s string) string {
	s = trim(s)
	if end := strings.IndexFunc(s, isNoLetter); end >= 0 {
		return s[:end]
	}
	return s
}

// lastWord gives the word that a text ends with, whatever stands behind it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " :,.\"'`")
	return s[strings.LastIndexAny(s, " \t-/(\"'`")+1:]
}
