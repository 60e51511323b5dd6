package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file judges what stands behind a status in a cell. Work that is closed too early is lost, so a word that closes
// it counts alone, with a date, or with a remark in brackets; "done, but tests fail" does not say that it is done. A
// box or a sign is nothing but a status, and open work may have its reasons behind it.

// remarked reports whether a status still counts with what stands behind the mark that it is read from.
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

// isAside reports whether a text has nothing but brackets, dates, stops, and signs of the same status.
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

// dateWidth gives the width of the date that a text begins with, 0 for none.
func dateWidth(text string) int {
	word := text[:len(text)-len(strings.TrimLeft(text, "0123456789-/."))]
	if word = strings.TrimRight(word, "."); isDate(word) {
		return len(word)
	}
	return 0
}

// dated reports whether a date stands behind a word: "done 2026-01-02" and "done on 2026-01-02".
func dated(behind string) bool {
	text := trim(behind)
	return text != behind && dateWidth(strings.TrimPrefix(text, "on ")) > 0
}

// cutOff cuts off what may stand before a date or a bracket.
func cutOff(text string) string {
	text = strings.TrimLeft(text, "*`_ ")
	for _, joint := range [...]string{"- ", "– ", "— ", "on ", ", ", ": "} {
		if rest, ok := strings.CutPrefix(text, joint); ok && rest != "" && (rest[0] == '(' || isDigit(rest[0])) {
			return rest
		}
	}
	return strings.TrimLeft(text, ".! ")
}

// bracketWidth gives the width of what stands in brackets at the beginning of a text, 0 for nothing or without an end.
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

// cutStateSign cuts a sign off the front of a text.
func cutStateSign(text string) (status Status, rest string) {
	for _, s := range stateSigns {
		if rest, ok := strings.CutPrefix(text, s.sign); ok {
			return s.status, strings.TrimPrefix(rest, selector)
		}
	}
	return 0, text
}

// doubtWords take back what a status has said.
var doubtWords = [...]string{"not", "reopened", "fail", "fails", "failed", "failing", "broken"}

// contradicts reports whether a remark has a word or a sign for another status, or one that takes it back. Words that
// sentences are made of count only if the remark is nothing else.
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

// commonWords stand in sentences about anything.
const commonWords = " no yes x new open ready active started review testing waiting merged shipped resolved "

// opposes reports whether a text begins with a word, of so many letters, that contradicts a status.
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
