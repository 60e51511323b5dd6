package plan

import "strings"

// This file parses the meaning of one mark in a legend.

// pair is a mark and the text about it.
type pair struct {
	mark, meaning string
	telling       bool   // it cannot be anything but a legend, in any section
	bare          bool   // no separator between the two, as between a checkbox and a title
	rest          string // the remaining text, from the next pair
}

// readPair parses "`[S]` = skipped, [D] = dropped".
func readPair(s string) (p pair, ok bool) {
	open := strings.TrimLeft(s, "`*")
	b, ok := boxAt(open, marker{})
	if !ok || open[0] != '[' || b.mark(open) == "" || b.mark(open) == "]" {
		return pair{}, false
	}
	p.mark = b.mark(open)
	p.meaning, p.rest = cutPair(open[b.close+1:])
	coded := strings.HasSuffix(s[:len(s)-len(open)], "`")
	said := p.meaning
	p.meaning, p.telling = cutEquals(said)
	p.telling = p.telling || coded
	p.bare = !p.telling && p.meaning == said
	return p, true
}

// cutPair returns the text about one mark. It ends before the next mark after a comma, a semicolon or a bar.
func cutPair(s string) (meaning, rest string) {
	s = strings.TrimLeft(s, "`* \t")
	from := 0
	if strings.HasPrefix(s, "|") {
		from = 1 // after the separator
	}
	for at := from; at < len(s); at++ {
		if strings.IndexByte(",;|", s[at]) < 0 {
			continue
		}
		rest = s[at+1+skipBlanks(s[at+1:], 0):]
		if s[at] == '|' || strings.HasPrefix(strings.TrimLeft(rest, "`*"), "[") {
			return trim(s[from:at]), rest
		}
	}
	return trim(s[from:]), ""
}

// cutEquals removes the separator between a mark and its meaning. telling is true for an equals sign or a colon. A
// dash may also precede a title.
func cutEquals(s string) (meaning string, telling bool) {
	for _, sign := range [...]string{"=>", "==", "=", ":", "->", "→", "–", "—", "-"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return trim(rest), sign[0] == '=' || sign == ":"
		}
	}
	return s, false
}

// meaningOf returns the status at the beginning of a text, or 0.
func meaningOf(text string) Status {
	status, _, known := wordAt(strings.TrimLeft(text, " `*"), inLegend)
	if !known {
		return 0
	}
	return status
}
