package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file decides whether a status in a cell still counts with the text after it. Closing work too early would lose
// it. A closing word therefore counts only alone, with a date, or with a remark in brackets: "done, but tests fail"
// does not count. A checkbox or a sign is always a status. Open work may have any text after it.

// remarked reports whether a status counts, given its mark and the text after it.
func (s Status) remarked(mark, remark string) bool {
	if !s.open() && letterBefore(mark) && !isAside(remark, s) {
		return false
	}
	return !contradicts(remark, s)
}

// letterBefore reports whether a mark ends with a word.
func letterBefore(mark string) bool {
	last, _ := utf8.DecodeLastRuneInString(mark)
	return wordLetter(last)
}

func letterAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return wordLetter(r)
}

func wordLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// isAside reports whether a text has only brackets, dates, stops, and signs of the same status.
func isAside(text string, status Status) bool {
	for text = cutOff(text); text != ""; text = cutOff(text) {
		if width := bracketWidth(text); width > 0 {
			text = text[width:]
			continue
		}
		if sign, rest := cutStateSign(text); sign == status {
			text = rest
			continue
		}
		width := dateWidth(text)
		if width == 0 {
			return false
		}
		text = text[width:]
	}
	return true
}

// dateWidth returns the width of the date at the beginning of a text, or 0.
func dateWidth(text string) int {
	word := text[:len(text)-len(strings.TrimLeft(text, "0123456789-/."))]
	if word = strings.TrimRight(word, "."); isDate(word) {
		return len(word)
	}
	return 0
}

// dated reports whether a date follows a word: "done 2026-01-02" and "done on 2026-01-02".
func dated(behind string) bool {
	text := trim(behind)
	return text != behind && dateWidth(strings.TrimPrefix(text, "on ")) > 0
}

// cutOff removes separators before a date or a bracket.
func cutOff(text string) string {
	text = strings.TrimLeft(text, "*`_ ")
	for _, joint := range [...]string{"- ", "– ", "— ", "on ", ", ", ": "} {
		if rest, ok := strings.CutPrefix(text, joint); ok && rest != "" && (rest[0] == '(' || isDigit(rest[0])) {
			return rest
		}
	}
	return strings.TrimLeft(text, ".! ")
}

// bracketWidth returns the width of a bracketed text at the beginning, or 0 if there is none or it is not closed.
func bracketWidth(text string) int {
	if text[0] != '(' && text[0] != '[' {
		return 0
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// cutStateSign removes a sign from the beginning of a text.
func cutStateSign(text string) (status Status, rest string) {
	for _, s := range stateSigns {
		if rest, ok := strings.CutPrefix(text, s.sign); ok {
			return s.status, strings.TrimPrefix(rest, selector)
		}
	}
	return 0, text
}

// doubtWords revoke a status.
var doubtWords = [...]string{"not", "reopened", "fail", "fails", "failed", "failing", "broken"}

// contradicts reports whether a remark has a word or sign for another status, or a word that revokes it. Common words
// count only if they are the whole remark.
func contradicts(remark string, status Status) bool {
	alone := strings.Trim(remark, "()[].,:;!-–—→> *`_")
	if other, width, ok := wordAt(alone, inCell); ok && width == len(alone) && other != status {
		return alone != ""
	}
	for at := 0; at < len(remark); {
		letters := strings.IndexFunc(remark[at:], func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
		if letters < 0 {
			letters = len(remark) - at
		}
		if letters > 0 && opposes(remark[at:], letters, status) {
			return true
		}
		if at += letters; at < len(remark) {
			if sign, _ := cutStateSign(remark[at:]); sign != 0 && sign != status {
				return true
			}
			at++
		}
	}
	return false
}

// commonWords are status words that often have another meaning in a sentence.
const commonWords = " no yes x new open ready active started review testing waiting merged shipped resolved "

// opposes reports whether the word at the beginning of a text contradicts a status. letters is the length of that
// word.
func opposes(text string, letters int, status Status) bool {
	for _, word := range doubtWords {
		if !status.open() && equalWord(text[:letters], word) {
			return true
		}
	}
	for i := range statusWords {
		w := &statusWords[i]
		if w.use&inCell == 0 || isOneOf(w.word, commonWords) || w.status == status || len(text) < len(w.word) || !sameWords(text[:len(w.word)], w.word) {
			continue
		}
		if len(w.word) >= letters && (len(text) == len(w.word) || !letterAt(text, len(w.word))) {
			return true
		}
	}
	return false
}
