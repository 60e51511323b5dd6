package plan

import "strings"

// This file searches the text once for strings that only few lines of a plan contain. All other lines then cost one
// comparison.

// ahead caches the positions of the next field and the next strokes: an offset at or after the current line, or the
// end of the text. An offset before the current line is outdated and searched again on demand.
type ahead struct {
	field, strokes, said int
	// words are the positions of the individual strings in saidSo.
	words [len(saidSo)]int
}

// unknown is the state before the first search.
var unknown = ahead{field: -1, strokes: -1, said: -1, words: [...]int{-1, -1}}

// hasField reports whether the current line has a field after white space.
func (s *scanner) hasField() bool {
	if s.ahead.field < s.start {
		s.findField()
	}
	return s.ahead.field < s.start+len(s.text)
}

// hasStrokes reports whether the current line has strikethrough marks.
func (s *scanner) hasStrokes() bool {
	if s.ahead.strokes < s.start {
		s.findStrokes()
	}
	return s.ahead.strokes < s.start+len(s.text)
}

// says reports whether the current line may state a dependency in a sentence. Few lines do, so that most titles need
// no closer look.
func (s *scanner) says() bool {
	if s.ahead.said < s.start {
		s.findSaid()
	}
	return s.ahead.said < s.start+len(s.text)
}

// findField finds the next field. It skips underscores inside and at the end of a word.
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
