package ledger

import (
	"sort"
	"strings"
)

// In code, a name in angle brackets that is joined to a word is a type: `std::vector<instruction>`. It opens
// nothing there, unless the text closes it too.

// isType reports whether the tag t, which stands at s[i], is written like a type.
func (t tag) isType(s string, i int) bool {
	end := i + 1
	for end < len(s) && isWordByte(s[end]) {
		end++
	}
	joined := i > 0 && (isWordByte(s[i-1]) || strings.HasSuffix(s[:i], "::"))
	return joined && !t.closing && !t.goesOn && end < len(s) && s[end] == '>' && knownName(s[i+1:end]) == t.name
}

// codeSpans say where the code of a text is, in order.
type codeSpans []struct{ start, end int }

// codeIn finds what stands in fences that the text ends, and between backticks on one line.
func codeIn(s string) (spans codeSpans) {
	for line := range linesOf(s, traitsOf(s), true) {
		if line.fenced {
			spans = append(spans, struct{ start, end int }{line.start, line.end})
			continue
		}
		spans = spans.appendQuoted(s, line.start, line.end)
	}
	return spans
}

// appendQuoted appends what is between backticks in s[start:end]: as many end it as began it.
func (spans codeSpans) appendQuoted(s string, start, end int) codeSpans {
	runs := backticksIn(s[:end], start)
	next, last := make([]int, len(runs)), map[int]int{} // the run of the same length behind each, 0 for none
	for k := len(runs) - 1; k >= 0; k-- {
		length := runs[k].end - runs[k].start
		next[k], last[length] = last[length], k
	}
	for k := 0; k < len(runs); k++ {
		if next[k] > 0 {
			spans = append(spans, struct{ start, end int }{runs[k].end, runs[next[k]].start})
			k = next[k]
		}
	}
	return spans
}

// backticksIn gives the runs of backticks from an index on.
func backticksIn(s string, from int) (runs codeSpans) {
	for {
		i := strings.IndexByte(s[from:], '`')
		if i < 0 {
			return runs
		}
		start := from + i
		from = start + len(s[start:]) - len(strings.TrimLeft(s[start:], "`"))
		runs = append(runs, struct{ start, end int }{start, from})
	}
}

// has reports whether s[i] is code.
func (spans codeSpans) has(i int) bool {
	k := sort.Search(len(spans), func(k int) bool { return spans[k].end > i })
	return k < len(spans) && spans[k].start <= i
}
