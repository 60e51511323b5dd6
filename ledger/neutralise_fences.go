package ledger

import (
	"slices"
	"strings"
)

// A fence of code that nothing ends makes code of all that stands behind it, our sections too. The line that
// opens one is marked, unless it is certain that the text itself ends it. Certain means: a line with the same
// indent and as many marks or more, and no line between them that stands further out, where a list or a
// quotation would end and the fence with it, by itself or because it is marked. A fence of which that cannot be said is marked, and the line that
// should have ended it, which then begins another one, as well.

// fences knows the lines of a text that can end a fence. It is asked for one line after the other, and keeps what
// it found, so that a text full of fences costs no more than a long one.
type fences struct {
	ends    map[fence][]fenceEnd // those that are bare, by prefix and mark alone
	next    map[fence]int        // where the first one begins that is long enough
	outward map[string]int       // where the first line begins that stands further out than a prefix
	marked  []int                // where the lines begin that are marked whatever they stand in
}

// fence is what has to match between the line that opens one and the line that ends it.
type fence struct {
	prefix string
	mark   byte
	length int
}

type fenceEnd struct{ start, length int }

func fencesOf(s string, found traits) *fences {
	f := &fences{ends: map[fence][]fenceEnd{}, next: map[fence]int{}, outward: map[string]int{}}
	for start := 0; start < len(s); {
		end := lineEnd(s, start)
		if line, bare := fenceIn(s[start:end]); bare {
			key := fence{prefix: line.prefix, mark: line.mark}
			f.ends[key] = append(f.ends[key], fenceEnd{start, line.length})
		}
		if kindOf(s[start:end], found) == structure {
			f.marked = append(f.marked, start)
		}
		start = end + 1
	}
	return f
}

// fenceIn reads a line that opens a fence, or, if there is nothing behind the marks, may end one. The mark is
// 0 if it is none.
func fenceIn(line string) (f fence, bare bool) {
	at := pastContainers(line)
	if at == len(line) || line[at] != '`' && line[at] != '~' {
		return fence{}, false
	}
	rest := strings.TrimLeft(line[at:], line[at:at+1])
	length := len(line) - at - len(rest)
	if length < 3 || line[at] == '`' && strings.IndexByte(rest, '`') >= 0 {
		return fence{}, false
	}
	return fence{line[:at], line[at], length}, strings.Trim(rest, " \t") == ""
}

// pastContainers returns the index behind white space, the marks of quotations, and those bullets that begin a
// list wherever they stand.
func pastContainers(line string) int {
	i := 0
	for i < len(line) {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '>':
			i++
		case c == '-' || c == '*' || c == '+':
			if i+1 == len(line) || line[i+1] != ' ' && line[i+1] != '\t' {
				return i
			}
			i += 2
		case strings.HasPrefix(line[i:], "1. ") || strings.HasPrefix(line[i:], "1) "):
			i += 3
		default:
			return i
		}
	}
	return i
}

// past gives the index behind the fence that the line s[start:end] opens, up to the line that ends it. opens
// reports whether it opens one at all; if nothing ends it, the index is that of the line itself.
func (f *fences) past(s string, start, end int) (index int, opens bool) {
	line, _ := fenceIn(s[start:end])
	if line.mark == 0 {
		return start, false
	}
	line.prefix = outdented(line.prefix)
	last := f.endOf(line, start, len(s))
	if last == len(s) || f.firstOutward(s, line.prefix, end+1) < last || line.prefix != "" && f.marks(end+1, last) {
		return start, true
	}
	return lineEnd(s, last) + 1, true
}

// marks reports whether a line that begins in s[from:to] is marked.
func (f *fences) marks(from, to int) bool {
	i, _ := slices.BinarySearch(f.marked, from)
	return i < len(f.marked) && f.marked[i] < to
}

// endOf gives where the first line behind start begins that can end the fence, none if there is no such line.
func (f *fences) endOf(line fence, start, none int) int {
	if at, known := f.next[line]; known && at > start {
		return at
	}
	key := fence{prefix: line.prefix, mark: line.mark}
	ends := f.ends[key]
	for len(ends) > 0 && ends[0].start <= start {
		ends = ends[1:]
	}
	f.ends[key], f.next[line] = ends, none
	for _, end := range ends {
		if end.length >= line.length {
			f.next[line] = end.start
			break
		}
	}
	return f.next[line]
}

// firstOutward gives where the first line from an index on begins that is not as far in as a prefix.
func (f *fences) firstOutward(s, prefix string, from int) int {
	if at, known := f.outward[prefix]; known && at >= from {
		return at
	}
	indent := strings.Trim(prefix, " \t") == ""
	at := from
	for at < len(s) {
		end := lineEnd(s, at)
		if !strings.HasPrefix(s[at:end], prefix) && !(indent && strings.Trim(s[at:end], " \t") == "") {
			break
		}
		at = end + 1
	}
	f.outward[prefix] = at
	return at
}

// outdented gives the prefix that the lines behind the first have: a bullet stands before the first alone.
func outdented(prefix string) string {
	if !strings.ContainsAny(prefix, "-*+1") {
		return prefix
	}
	out := []byte(prefix)
	for i, c := range out {
		if c != '\t' && c != '>' {
			out[i] = ' '
		}
	}
	return string(out)
}
