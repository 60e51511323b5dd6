package plan

import (
	"strings"
	"unicode"
)

// This file finds the status in the heading of a task. Most status words can also be part of a title. A word therefore
// counts only if it cannot be anything but a status. "Solve f(x)", "Add an option (done: bool)" and "Draw the check
// mark ✅" have no status.

// headSigns are the signs for a status in a heading.
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

// topicWords show that the title is about a status, and after leadWords a sentence is not complete.
const (
	topicWords = " mark marks checkmark check tick sign signs emoji emojis icon icons symbol symbols character glyph box checkbox" +
		" state states status statuses label labels badge badges button buttons flag flags option options value values word words column field x "
	leadWords = " a an the with to into as by of for from in on and or is are "
)

// cutStatus removes a status from either end of a text: "(COMPLETED)", "[x]", "✅" and "✅ COMPLETED". whole means that
// the text begins before the word Task, and not after the number.
func cutStatus(text string, whole bool) (rest string, status Status) {
	if rest, status = cutStatusBefore(text, whole); status != 0 {
		return rest, status
	}
	return cutStatusBehind(text)
}

// cutStatusBefore removes a status from the beginning. After the number, a word in brackets is part of the title,
// unless a colon or a dash follows it: "Task 1 (DONE): Seed".
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

// cutStatusBehind removes a status from the end.
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
		return text, 0 // no sign is ASCII; this avoids a costly search for each sign
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

// unlessTopic removes a status from the end of a text, unless the words before it show that the title is about a
// status. A sign may also be a word of the sentence, as in "Replace it with ✅". A title of one word is not a sentence.
func unlessTopic(text string, at int, status Status, sign bool) (string, Status) {
	before := trimRight(text[:at])
	if word := lastWord(before); isOneOf(word, topicWords) || sign && (word != before && isOneOf(word, leadWords) || signed(before)) {
		return text, 0
	}
	return before, status
}

// statusIn parses the text in brackets: a checkbox, or only a status. A sign may precede the status, and a sign or a
// date may follow it.
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

// boxed returns the status for the mark in a checkbox, or 0.
func boxed(inside string) Status {
	switch {
	case inside == "x" || inside == "X":
		return Completed
	case inside != "" && trim(inside) == "":
		return Pending
	}
	return 0
}

// cutSign removes a sign from the beginning of s.
func cutSign(s string) (status Status, rest string) {
	for i := range headSigns {
		if after, ok := strings.CutPrefix(s, headSigns[i].text); ok {
			return headSigns[i].status, strings.TrimPrefix(after, selector)
		}
	}
	return 0, s
}

// signed reports whether a text contains a sign. It is then more than a status.
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

// isOneOf reports whether a word is in a list.
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

// lastWord returns the last word of a text, ignoring punctuation after it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " :,.\"'`")
	return s[strings.LastIndexAny(s, " \t-/(\"'`")+1:]
}
