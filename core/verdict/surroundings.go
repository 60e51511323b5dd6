package verdict

import (
	"slices"
	"strings"
)

// surroundings holds the code fences and HTML comments of a text, and the indentation of the text as a whole. A form
// in a fence or a comment, or indented deeper than the rest, may be quoted from elsewhere.
type surroundings struct {
	text     string
	margin   int         // the smallest indentation of a line, in characters
	fences   []fenceLine // without those between the markers of a block
	comments [][2]int    // enclosures in HTML, up to their end or the end of the text
	closed   int         // the end of the last enclosure, if a quoted text may have ends of its own
	whole    bool        // one fence encloses the whole text
	forms    []form      // statements inside these do not count
}

// A fenceLine is a line that opens or closes a code fence.
type fenceLine struct {
	at   int
	open bool // a fence is open after the line, by the rules of Markdown
}

func surroundingsOf(text string, found blocks) surroundings {
	a := surroundings{text: text, margin: len(text)}
	var mark string // the characters that begin the open fence
	lastFence, first, last := -1, -1, -1
	next := 0 // index of the next block
	for at := 0; at < len(text); {
		l := lineAt(text, at)
		at = l.next
		if l.text == "" {
			continue
		}
		a.margin = min(a.margin, indentation(text[l.at:l.next]))
		for next < len(found.all) && found.all[next].end <= l.at {
			next++
		}
		within := next < len(found.all) && found.all[next].begin <= l.at
		if l.fence() && !within {
			mark = openFence(mark, l.text)
			a.fences = append(a.fences, fenceLine{l.at, mark != ""})
			lastFence = l.at
		}
		if first < 0 {
			first = l.at
		}
		last = l.at
	}
	a.whole = len(a.fences) > 0 && a.fences[0].at == first &&
		(len(a.fences) == 1 || len(a.fences) == 2 && lastFence == last)
	a.comments, a.closed = commentsOf(text)
	return a
}

// openFence returns the mark of the fence that is open after a fence line, "" for none.
func openFence(open, line string) string {
	mark := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	switch {
	case open == "":
		return mark
	case strings.HasPrefix(mark, open) && mark == line:
		return ""
	}
	return open
}

// tab is the number of columns of a tab.
const tab = 4

// enclosures are what HTML hides or quotes a text in.
var enclosures = [...][2]string{
	{"<!--", "-->"}, {"<details", "</details>"}, {"<pre", "</pre>"}, {"<blockquote", "</blockquote>"},
}

// commentsOf returns the enclosures of a text, and where the last one of a text may end.
func commentsOf(text string) (comments [][2]int, closed int) {
	if !strings.Contains(text, "<") {
		return nil, 0
	}
	text = lowerASCII(text)
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		begin := at + i
		at = begin + 1
		for _, pair := range enclosures {
			if opens(text, begin, pair[0]) {
				at = len(text)
				if j := strings.Index(text[begin:], pair[1]); j >= 0 {
					at = begin + j + len(pair[1])
				}
				comments = append(comments, [2]int{begin, at})
				break
			}
		}
	}
	for _, pair := range enclosures {
		closed = max(closed, strings.LastIndex(text, pair[1]))
	}
	return comments, closed
}

// opens reports whether an enclosure begins at an offset. A longer name or one in back quotes is none.
func opens(text string, at int, mark string) bool {
	rest, ok := strings.CutPrefix(text[at:], mark)
	return ok && (mark == enclosures[0][0] || rest == "" || !isWordByte(rest[0])) && (at == 0 || text[at-1] != '`')
}

// lowerASCII returns a text of the same length with the letters of ASCII in lower case.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// indentation returns the number of columns of white space at the start of a line.
func indentation(line string) (n int) {
	for _, r := range line {
		if r == '\n' || !blank(r) {
			break
		}
		n++
		if r == '\t' {
			n += tab - 1
		}
	}
	return n
}

// fenced reports whether a form may be in a fence: there are fence lines before and after it. The fences are not
// matched, because a quoted text may have fence lines of its own.
func (a surroundings) fenced(begin, end int) bool {
	if a.whole || len(a.fences) == 0 {
		return false
	}
	before, _ := slices.BinarySearchFunc(a.fences, begin, byPlace)
	after, _ := slices.BinarySearchFunc(a.fences, end, byPlace)
	return before > 0 && (before%2 == 1 || after < len(a.fences) || a.fences[before-1].open)
}

func byPlace(f fenceLine, at int) int { return f.at - at }

// behindFence reports whether there is a fence line before an offset.
func (a surroundings) behindFence(at int) bool {
	return !a.whole && len(a.fences) > 0 && a.fences[0].at < at
}

// inForm reports whether an offset is in a form.
func (a surroundings) inForm(at int) bool {
	i, begins := slices.BinarySearchFunc(a.forms, at, func(f form, at int) int { return f.at - at })
	return begins || i > 0 && at < a.forms[i-1].end
}

// commented reports whether an offset is in an enclosure.
func (a surroundings) commented(at int) bool {
	i, _ := slices.BinarySearchFunc(a.comments, at, func(c [2]int, at int) int { return c[0] - at })
	return i > 0 && at < a.comments[i-1][1]
}

// enclosed reports whether a form may be in an enclosure: one begins before it, and one ends after it. They are not
// matched, because a quoted text may have ends of its own.
func (a surroundings) enclosed(at int) bool {
	return a.commented(at) || len(a.comments) > 0 && a.comments[0][0] < at && at < a.closed
}

// deeper reports whether the line that begins at an offset is indented by more than the whole text and more columns.
func (a surroundings) deeper(line, more int) bool { return indentation(a.text[line:]) > a.margin+more }

// indented reports whether a form may be quoted by indentation: its first line by two columns, because many an answer
// begins with a space, or its first and its last line by one, as in a diff.
func (a surroundings) indented(line, end int) bool {
	text := strings.TrimRight(a.text[line:end], "\n")
	return a.deeper(line, 1) || a.deeper(line, 0) && a.deeper(line+strings.LastIndexByte(text, '\n')+1, 0)
}
