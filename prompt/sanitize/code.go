package sanitize

import (
	"sort"
	"strings"
)

// In code, a bracketed name after a word is a type: `std::vector<instruction>`. It is not a tag, unless the text also
// closes it.

// isType reports whether the tag t at s[i] has the form of a type in code.
func (t tag) isType(s string, i int) bool {
	end := i + 1
	for end < len(s) && isWordByte(s[end]) {
		end++
	}
	joined := i > 0 && (isWordByte(s[i-1]) || strings.HasSuffix(s[:i], "::"))
	return joined && !t.closing && !t.goesOn && end < len(s) && s[end] == '>' && knownName(s[i+1:end]) == t.name
}

// codeSpans are the byte ranges of the code in a text, in order.
type codeSpans []struct{ start, end int }

// codeIn returns the code in complete fences, and between backticks on one line.
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

// appendQuoted appends the code between backticks in s[start:end]. An opening and a closing run have equal length.
func (spans codeSpans) appendQuoted(s string, start, end int) codeSpans {
	runs := backticksIn(s[:end], start)
	next, last := make([]int, len(runs)), map[int]int{} // the next run of the same length, 0 for none
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

// backticksIn returns the runs of backticks at or after an index.
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
