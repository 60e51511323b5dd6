package core

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// The timeline of a task with very many attempts has this many lines: of the first attempts
// TimelineHead, one that says how many are left out, and the last ones.
const (
	TimelineLines = 14
	TimelineHead  = 3
)

// Timeline writes one line for each attempt, in order: number, status, model, session, and for one
// that failed what it said. Nothing in a line can break it or pass for a part of it. more counts the
// attempts that lie between head and tail and are left out.
func Timeline(head []Attempt, more int, tail []Attempt) string {
	var b strings.Builder
	for _, a := range head {
		b.WriteString(a.line())
	}
	if more > 0 {
		fmt.Fprintf(&b, "… %s more\n", thousands(more))
	}
	for _, a := range tail {
		b.WriteString(a.line())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (a Attempt) line() string {
	session := cmp.Or(Line(a.Session(), lineRunes), "unknown")
	line := fmt.Sprintf("Attempt %d — %s — %s — %s", a.Number, strings.ToUpper(string(a.Status())),
		a.Model.line(), session)
	if why := Line(a.Failure().Message, errorRunes); why != "" {
		line += " — " + why
	}
	return line + "\n"
}

// line is the model's name, fit to stand inside a line.
func (m Model) line() string { return cmp.Or(Line(m.String(), lineRunes), Model{}.String()) }

const (
	lineRunes  = 128
	errorRunes = 240
)

// Line makes a text that somebody else wrote fit to stand inside a line of ours: without line breaks,
// control characters and what is invisible or turns the direction of writing, without the marks that
// our lines and other people's markup are made of, and with at most limit characters, the last of which
// says so if something was cut; limit is at least 1. A text that went through it once goes through it
// unchanged.
func Line(text string, limit int) string {
	var line []rune
	gap := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = len(line) > 0
			continue
		case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			r == unicode.ReplacementChar:
			continue
		case gap:
			line = append(line, ' ')
			gap = false
		}
		line = append(line, harmless(r))
		if len(line) > limit {
			return string(append(line[:limit-1], '…'))
		}
	}
	return string(line)
}

func harmless(r rune) rune {
	switch r {
	case '<':
		return '‹'
	case '>':
		return '›'
	case '`':
		return '\''
	case '—':
		return '-'
	}
	return r
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span writes a duration in microseconds as a person would: 1h 2m 3s, 2m 3s, 3s, and 250ms below a
// second. A negative one, which a clock that was set back gives, is 0s.
func span(micros int64) string {
	seconds := max(micros, 0) / 1_000_000
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh %dm %ds", h, m, s)
	case m > 0:
		return fmt.Sprintf("%dm %ds", m, s)
	case s == 0 && micros > 0:
		return fmt.Sprintf("%dms", micros/1000)
	}
	return fmt.Sprintf("%ds", s)
}
