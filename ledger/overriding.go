package ledger

import (
	"strings"
	"unicode/utf8"
)

// This file reads the comment by which a file sets its dialect, and finds those that want to and cannot.

const (
	overrideWord = "waybill:"
	commentMark  = "<!--"
)

// override is what a comment says about the dialect of the file.
type override struct {
	dialect      string
	line, column int // line 0 for none
}

// overriding reads the dialect that a comment sets: "waybill: dialect=kiro", with spaces where one likes.
func overriding(comment string) (dialect string, ok bool) {
	rest, ok := strings.CutPrefix(trim(comment), overrideWord)
	if !ok {
		return "", false
	}
	if rest, ok = strings.CutPrefix(trim(rest), "dialect"); !ok {
		return "", false
	}
	dialect, ok = strings.CutPrefix(trim(rest), "=")
	return trim(dialect), ok
}

// overridden looks for a dialect in the first line of a comment. The first counts.
func (s *scanner) overridden(at int, text string) {
	text, _, closed := strings.Cut(text, "-->")
	if dialect, ok := overriding(text); ok && closed && s.override.line == 0 {
		s.override = override{dialect, s.number, utf8.RuneCountInString(s.text[:at]) + 1}
	}
}

// firstOverriding looks for the word in a text that has a comment: it means nothing elsewhere.
func firstOverriding(src string) int {
	at := strings.Index(src, commentMark)
	if at < 0 {
		return len(src)
	}
	return overridingFrom(src, at)
}

func overridingFrom(src string, from int) int {
	if i := strings.Index(src[from:], overrideWord); i >= 0 {
		return from + i
	}
	return len(src)
}

// checkOverriding reports a comment that begins with the name of this program and sets no dialect: it goes over
// several lines, stands behind other text, or says something else. masked says that the line lies in a fence
// or a comment that has begun in a line before.
func (s *scanner) checkOverriding(masked bool) {
	end := s.start + len(s.text)
	if s.nextOverriding >= end {
		return
	}
	at := s.nextOverriding - s.start
	s.nextOverriding = overridingFrom(s.src, end)
	if s.place == placeFence {
		return
	}
	before := trim(s.text[:at])
	lead, opens := strings.CutSuffix(before, commentMark)
	switch {
	case opens && !masked && s.readsOverriding(trim(lead), s.text[at:]):
	case opens && strings.HasSuffix(lead, "`"): // a sample in a sentence
	case opens, masked && before == "":
		s.unclosed = append(s.unclosed, diagnose(&s.line, at, SeverityError, "override_unread",
			"this sets no dialect: write <!-- waybill: dialect=NAME --> on a line of its own"))
	}
}

// readsOverriding reports whether a comment is one that sets a dialect, or would if it were the first: it has
// nothing but a bullet before it, and ends in its line.
func (s *scanner) readsOverriding(lead, comment string) bool {
	comment, _, closed := strings.Cut(comment, "-->")
	_, ok := overriding(comment)
	return ok && closed && (lead == "" || lead == "-" || lead == "*" || lead == "+")
}
