package ledger

import "strings"

// This file looks ahead for what few lines of a plan have, so that all others are passed by at the cost of a
// comparison: the text is searched through once, and not line by line.

// ahead holds where the next one of something stands: at or after the current line, or at the end of the text. What
// stands before the line is out of date and looked for again when somebody asks.
type ahead struct {
	field, strokes, said int
	// words are those of said, each for itself.
	words [len(saidSo)]int
}

// unknown is before any line.
var unknown = ahead{field: -1, strokes: -1, said: -1, words: [...]int{-1, -1}}

// hasField reports whether the current line has a field behind white space.
func (s *scanner) hasField() bool {
	if s.ahead.field < s.start {
		s.findField()
	}
	return s.ahead.field < s.start+len(s.text)
}

// hasStrokes reports whether it has strokes.
func (s *scanner) hasStrokes() bool {
	if s.ahead.strokes < s.start {
		s.findStrokes()
	}
	return s.ahead.strokes < s.start+len(s.text)
}

// says reports whether it may say in a sentence what an item waits for. Few do, so that plans of numbers are not
// slowed down by looking into each title.
func (s *scanner) says() bool {
	if s.ahead.said < s.start {
		s.findSaid()
	}
	return s.ahead.said < s.start+len(s.text)
}

// findField passes by the underscores within and behind a word.
func (s *scanner) findField() {
	at := indexFrom(s.src, '_', s.start)
	for at < len(s.src) && at > 0 && s.src[at-1] > ' ' {
		at = indexFrom(s.src, '_', at+1)
	}
	s.ahead.field = at
}

func (s *scanner) findStrokes() { s.ahead.strokes = textFrom(s.src, struck, s.start) }

func (s *scanner) findSaid() {
	s.ahead.said = len(s.src)
	for k, words := range saidSo {
		if s.ahead.words[k] < s.start {
			s.ahead.words[k] = textFrom(s.src, words, s.start)
		}
		s.ahead.said = min(s.ahead.said, s.ahead.words[k])
	}
}

// textFrom returns the index of the first part in s at or after from, len(s) for none.
func textFrom(s, part string, from int) int {
	if i := strings.Index(s[from:], part); i >= 0 {
		return from + i
	}
	return len(s)
}
