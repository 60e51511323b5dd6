package ledger

import "strings"

// This file reads legends: "[S] = skipped". What one says about a mark counts
// more than what the dialect says.

// legendWords are what the meaning of a mark begins with.
var legendWords = [...]struct {
	word   string
	status Status
}{
	{"skip", Skipped},
	{"supersede", Skipped},
	{"defer", Skipped},
	{"withdrawn", Skipped},
	{"cancel", Skipped},
	{"obsolete", Skipped},
	{"dropped", Skipped},
	{"in progress", InProgress},
	{"in-progress", InProgress},
	{"started", InProgress},
	{"doing", InProgress},
	{"blocked", Blocked},
	{"waiting", Blocked},
	{"done", Completed},
	{"complete", Completed},
	{"finished", Completed},
	{"open", Pending},
	{"pending", Pending},
	{"todo", Pending},
	{"queued", Pending},
}

// explained returns what the legends of the file say about a mark. They are
// read when the first unusual mark is met, since they may stand below it.
func (n *numbered) explained(mark string) (Status, bool) {
	if n.legend == nil {
		n.legend = legends(n.src)
	}
	m, ok := n.legend[mark]
	return m.status, ok
}

// saying is what a legend says about a mark, and where.
type saying struct {
	status Status
	at     int
}

// legends reads all of a text. Of two for one mark the first counts.
func legends(text string) map[string]saying {
	found := map[string]saying{}
	for at := indexFrom(text, '=', 0); at < len(text); at = indexFrom(text, '=', at+1) {
		before := strings.TrimRight(text[:at], " `*")
		if !strings.HasSuffix(before, "]") {
			continue
		}
		const longest = 8 // bytes of a mark, which is one character
		from := strings.LastIndexByte(before[max(0, len(before)-longest):], '[')
		if from < 0 {
			continue
		}
		mark := before[max(0, len(before)-longest)+from+1 : len(before)-1]
		if _, again := found[mark]; again || mark == "" || mark == "]" || markWidth(mark) != len(mark) || blankAt(mark, 0) > 0 {
			continue // what looks like a space means what the space does
		}
		if status := meaningOf(text[at+1:]); status != 0 {
			found[mark] = saying{status, at}
		}
	}
	return found
}

// meaningOf reads the status that a text begins with, 0 for none.
func meaningOf(text string) Status {
	text = strings.TrimLeft(text, " `*")
	for _, w := range legendWords {
		if len(text) >= len(w.word) && equalWord(text[:len(w.word)], w.word) {
			return w.status
		}
	}
	return 0
}

// explains reports whether a box with this behind it says what its mark means: "- [S] = skipped".
func explains(title string) bool {
	meaning, ok := strings.CutPrefix(title, "=")
	return ok && meaningOf(meaning) != 0
}

// isLegend reports whether a box without id says what a mark or a tag means. Below the heading of a legend the
// meaning may stand behind any sign, or none: "- [x] done".
func (n *numbered) isLegend(b *box, ln *line, title string) bool {
	mark := b.mark(ln.text)
	tag := mark == "P" || mark == "p"
	switch {
	case explains(title):
		return true
	case n.sections.kind != sectionLegend:
		return tag && n.g.label != nil && !n.g.unnumbered
	case tag:
		return true
	case mark != "" && n.g.usual(mark[0]) == 0 && meaningOf(strings.TrimLeft(title, legendSigns)) != 0:
		return true
	}
	return meansAll(title)
}

// legendSigns may stand between a mark and its meaning.
const legendSigns = "-–—:→>= `*"

// meansAll reports whether a text is the meaning of a mark and nothing else, as it is below the heading of a legend.
func meansAll(text string) bool {
	if strings.HasPrefix(text, "=") {
		return true
	}
	_, _, known := readWord(strings.TrimLeft(text, legendSigns))
	return known
}
