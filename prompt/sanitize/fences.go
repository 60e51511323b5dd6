package sanitize

import (
	"slices"
	"strings"
)

// An unclosed code fence would turn all later text into code, including the sections of waybill. The opening line is
// therefore marked, unless the text certainly closes the fence. The closing line must have the same indentation and at
// least as many marks. No line in between may be less indented, because that would end a list or quotation together
// with the fence. If the opening line is marked, its possible closing line is marked too, because it would open
// another fence.

// fences indexes the lines that can close a fence. Queries come line by line and results are cached, so that a text
// full of fences takes linear time.
type fences struct {
	ends    map[fence][]fenceEnd // the possible closing lines, by prefix and mark
	next    map[fence]int        // the start of the first closing line that is long enough
	outward map[string]int       // the start of the first line that lacks a prefix
	marked  []int                // the starts of the lines that are marked in any context
}

// fence has the properties in which the opening and the closing line must agree.
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

// fenceIn parses a line that opens a fence or, if bare is true, may close one. The mark is 0 for any other line.
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

// pastContainers returns the index after white space, quotation marks, and list bullets.
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

// past returns the index after the line that closes the fence opened by s[start:end], or start if no line closes it.
// opens reports whether the line opens a fence.
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

// marks reports whether a marked line begins in s[from:to].
func (f *fences) marks(from, to int) bool {
	i, _ := slices.BinarySearch(f.marked, from)
	return i < len(f.marked) && f.marked[i] < to
}

// endOf returns the start of the first line after start that can close the fence, or the value none.
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

// firstOutward returns the start of the first line at or after from that lacks the prefix, or the end of the text.
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

// outdented returns the prefix of the lines after an opening line, in which spaces replace a bullet.
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
