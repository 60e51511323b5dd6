package ledger

import "strings"

// This file reads what a legend says of one mark.

// pair is a mark and what is said of it.
type pair struct {
	mark, meaning string
	telling       bool   // it cannot be anything else, wherever it stands
	bare          bool   // nothing stands between the two, as between a box and a title
	rest          string // what follows, which begins with the next pair
}

// readPair reads "`[S]` = skipped, [D] = dropped".
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

// cutPair cuts off what is said of one mark, up to the next one behind a comma, a semicolon or a bar.
func cutPair(s string) (meaning, rest string) {
	s = strings.TrimLeft(s, "`* \t")
	from := 0
	if strings.HasPrefix(s, "|") {
		from = 1 // between the mark and what it means
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

// cutEquals cuts off what stands between a mark and its meaning. An equals sign or a colon tells that the
// second is one; a dash may begin a title.
func cutEquals(s string) (meaning string, telling bool) {
	for _, sign := range [...]string{"=>", "==", "=", ":", "->", "→", "–", "—", "-"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return trim(rest), sign[0] == '=' || sign == ":"
		}
	}
	return s, false
}

// meaningOf reads the status that a text begins with, 0 for none.
func meaningOf(text string) Status {
	status, _, known := wordAt(strings.TrimLeft(text, " `*"), inLegend)
	if !known {
		return 0
	}
	return status
}
