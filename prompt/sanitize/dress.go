package sanitize

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"

	"waybill/internal/lazy"
	"waybill/internal/lazyregexp"
)

// Markdown or HTML may disguise a section name: "[**Now**]", "\[Now]", "[N<b>o</b>w]", "&#91;Now]", "[[Now](x)]". A
// rendered line may then look like a heading of waybill, so lines are also compared without markup.

// mayBeDressed reports whether a line may look like a heading after rendering. first is its first byte after markup.
// Most lines are excluded by this byte alone.
func mayBeDressed(line string, first byte) bool {
	switch first {
	case '[', '<', '&', '!', '=':
		return true
	case 'b', 'B', 'e', 'E', 'r', 'R':
		return strings.ContainsAny(line, "\\&<*`~")
	}
	return first >= utf8.RuneSelf && strings.ContainsAny(line, "[<&") ||
		strings.IndexByte(line, '<') >= 0 && strings.ContainsAny(line, "[&") // a tag may begin a new line
}

// undressed returns an approximation of the rendered line, with a line feed for each tag that begins a new line. It
// decodes entities, and drops other tags, decoration, escapes and link addresses. "[a][b]" is a link only if the text defines it, so linked is a second version in which it is a
// link. Both take linear time.
func undressed(line string) (seen, linked string) {
	line = withoutDecoration(line)
	return looked(withoutLinks(line, "(")), looked(withoutLinks(line, "(["))
}

// undecorated removes decoration characters, even where rendering would show them.
var undecorated = strings.NewReplacer("*", "", "_", "", "~", "", "`", "")

// looked returns the visible form of a line in which no character is markup any more.
func looked(line string) string {
	if strings.IndexByte(line, '&') >= 0 {
		line = undecorated.Replace(html.UnescapeString(line))
	}
	if hasWide(line) {
		line, _ = strip(line)
		line = skeleton(line, math.MaxInt)
	}
	return line
}

// autolink matches a URL in angle brackets, which rendering shows.
var autolink = lazyregexp.New(`^<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^ \t<>]*>`)

// withoutDecoration removes decoration, escapes, and angle brackets with their content, except URLs.
func withoutDecoration(line string) string {
	out := make([]byte, 0, len(line))
	lastTag, lastComment := strings.LastIndexByte(line, '>'), strings.LastIndex(line, "-->")
	code, padding := codeSpans(nil).appendQuoted(line, 0, len(line)), map[int]bool{}
	for _, span := range code {
		text := line[span.start:span.end]
		if text[0] == ' ' && text[len(text)-1] == ' ' && strings.Trim(text, " ") != "" {
			padding[span.start], padding[span.end-1] = true, true
		}
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case padding[i]: // rendering removes this space
		case strings.IndexByte("[]()", c) >= 0 && code.has(i):
			out = fmt.Appendf(out, "&#%d;", c) // a bracket in code is not part of a link
		case c == '<' && code.has(i):
			out = append(out, c)
		case c == '<' && i < lastComment && strings.HasPrefix(line[i:], "<!--"):
			i += strings.Index(line[i:], "-->") + 2
		case c == '<' && i < lastTag:
			end := i + bracketEnd(line[i:])
			if name, _ := elementIn(lowerASCII(line[i : end+1])); breaking.Get()[name] {
				out = append(out, '\n')
			}
			if autolink.Compiled().MatchString(line[i : end+1]) {
				out = append(out, line[i+1:end]...)
			}
			i = end
		case c == '\\' && i+1 < len(line) && strings.IndexByte("[]()", line[i+1]) >= 0:
			i++
			out = fmt.Appendf(out, "&#%d;", line[i]) // an escaped bracket is not part of a link
		case strings.HasPrefix(line[i:], "=="): // marks a text
			i++
		case strings.IndexByte("*_~`\\", c) < 0:
			out = append(out, c)
		}
	}
	return string(out)
}

// breaking are the elements that begin and end a rendered line.
var breaking = lazy.Value[map[string]bool]{Of: func() map[string]bool {
	return names(
		"address", "article", "aside", "blockquote", "br", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
		"form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "td", "th", "tr", "ul",
	)
}}

// bracketEnd returns the index of the bracket that ends the tag at the beginning of s. A quoted value may contain brackets.
func bracketEnd(s string) int {
	const longest = 1024
	for i, equals := 1, false; i < min(len(s), longest); i++ {
		switch c := s[i]; {
		case c == '>':
			return i
		case (c == '"' || c == '\'') && equals:
			i += max(0, strings.IndexByte(s[i+1:min(len(s), longest)], c)) + 1
			equals = false
		case c != ' ':
			equals = c == '='
		}
	}
	return strings.IndexByte(s, '>')
}

// withoutLinks replaces links and images by their text, without brackets. opening lists the brackets that may follow
// the text of a link.
func withoutLinks(line, opening string) string {
	if !strings.Contains(line, "](") && !strings.Contains(line, "][") {
		return line
	}
	ends := closersOf(line)
	out := make([]byte, 0, len(line))
	var open []int // positions in out of the unclosed brackets
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '[':
			if last := len(out) - 1; last >= 0 && out[last] == '!' {
				out = out[:last]
			}
			open = append(open, len(out))
			out = append(out, c)
		case c == ']' && len(open) > 0:
			begin := open[len(open)-1]
			open = open[:len(open)-1]
			if i+1 < len(line) && ends[i+1] > 0 && strings.IndexByte(opening, line[i+1]) >= 0 {
				out[begin] = 0 // a byte that the line cannot contain
				i = ends[i+1]
			} else {
				out = append(out, c)
			}
		default:
			out = append(out, c)
		}
	}
	return strings.ReplaceAll(string(out), "\x00", "")
}

// closersOf returns, for each opening bracket, the index of its closing bracket. All other entries are 0.
func closersOf(line string) []int {
	ends := make([]int, len(line))
	var round, square []int
	for i := range len(line) {
		switch line[i] {
		case '(':
			round = append(round, i)
		case '[':
			square = append(square, i)
		case ')':
			if n := len(round); n > 0 {
				ends[round[n-1]], round = i, round[:n-1]
			}
		case ']':
			if n := len(square); n > 0 {
				ends[square[n-1]], square = i, square[:n-1]
			}
		}
	}
	return ends
}
