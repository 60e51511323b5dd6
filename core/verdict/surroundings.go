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
	comments [][2]int    // HTML comments and "<details>", up to their end or the end of the text
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
	a.comments = commentsOf(text)
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

func commentsOf(text string) (comments [][2]int) {
	for at := 0; ; {
		begin, closing := len(text), ""
		for _, pair := range [][2]string{{"<!--", "-->"}, {"<details", "</details>"}} {
			if i := strings.Index(text[at:begin], pair[0]); i >= 0 {
				begin, closing = at+i, pair[1]
			}
		}
		if closing == "" {
			return comments
		}
		end := len(text)
		if j := strings.Index(text[begin:], closing); j >= 0 {
			end = begin + j + len(closing)
		}
		comments = append(comments, [2]int{begin, end})
		at = end
	}
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

// commented reports whether an offset is in an HTML comment.
func (a surroundings) commented(at int) bool {
	i, _ := slices.BinarySearchFunc(a.comments, at, func(c [2]int, at int) int { return c[0] - at })
	return i > 0 && at < a.comments[i-1][1]
}

// deeper reports whether the line that begins at an offset is indented by more than the whole text and more columns.
func (a surroundings) deeper(line, more int) bool { return indentation(a.text[line:]) > a.margin+more }
