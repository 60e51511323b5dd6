package sanitize

import (
	"sort"
	"strings"
)

// codeSpans are the byte ranges of the code in a text, in order.
type codeSpans []struct{ start, end int }

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
