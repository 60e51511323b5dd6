package plan

import (
	"strings"
	"unicode/utf8"
)

// This file reads the comment that sets the dialect of a file, and reports comments that fail to set it.

const (
	overrideWord = "waybill:"
	commentMark  = "<!--"
)

// override is the dialect that a comment sets.
type override struct {
	dialect      string
	line, column int // line 0 for none
}

// overriding parses a comment that sets a dialect: "waybill: dialect=kiro", with optional spaces.
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

// overridden checks the first line of a comment for a dialect. The first such comment counts.
func (s *scanner) overridden(at int, text string) {
	text, _, closed := strings.Cut(text, "-->")
	if dialect, ok := overriding(text); ok && closed && s.override.line == 0 {
		s.override = override{dialect, s.number, utf8.RuneCountInString(s.text[:at]) + 1}
	}
}

// firstOverriding returns the position of the program name in a text that has a comment.
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

// checkOverriding reports a comment that begins with the name of this program but sets no dialect, because it spans
// several lines, follows other text, or says something else. masked means that the line is in a fence or in a comment
// from an earlier line.
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

// readsOverriding reports whether a comment has the form that sets a dialect. Only a bullet may precede it, and it
// ends on its line.
func (s *scanner) readsOverriding(lead, comment string) bool {
	comment, _, closed := strings.Cut(comment, "-->")
	_, ok := overriding(comment)
	return ok && closed && (lead == "" || lead == "-" || lead == "*" || lead == "+")
}
