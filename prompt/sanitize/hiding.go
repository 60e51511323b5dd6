package sanitize

import (
	"strings"

	"waybill/internal/lazy"
)

// HTML and Markdown renderers hide some constructs up to their end, or show them as code. An unclosed construct would
// hide all later sections, so its bracket is replaced. Most constructs count only at the beginning of a line, because
// ordinary text mentions them too.

// hiding lists the hiding constructs that are not elements.
var hiding = [...]struct {
	begin, end string
	lines      bool
}{
	{"<!--", "-->", false},
	{"<![cdata[", "]]>", false},
	{"<?", "?>", true},
	{"<!", ">", true}, // a letter follows
}

// hidingElements are elements whose content is hidden, collapsed or shown in another form.
var hidingElements = lazy.Value[map[string]bool]{Of: func() map[string]bool {
	return names(
		"audio", "canvas", "datalist", "details", "dialog", "iframe", "noembed", "noframes", "noscript", "object",
		"plaintext", "pre", "script", "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
	)
}}

// voidElements are elements without an end tag.
var voidElements = lazy.Value[map[string]bool]{Of: func() map[string]bool {
	return names(
		"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
	)
}}

// appendHiding appends the positions of unclosed constructs.
func appendHiding(at []int, s string) []int {
	low := lowerASCII(s)
	for k := range hiding {
		h := &hiding[k]
		for i := strings.LastIndex(low, h.end) + 1; ; {
			next := strings.Index(low[i:], h.begin)
			if next < 0 {
				break
			}
			i += next
			rest := low[i+len(h.begin):]
			if !h.lines || beginsLine(s, i) && (h.begin == "<?" || rest != "" && rest[0] >= 'a' && rest[0] <= 'z') {
				at = append(at, i)
			}
			i += len(h.begin)
		}
	}
	return appendUnclosed(at, s, low)
}

// appendUnclosed appends the positions of unclosed elements that hide the text after them. low is the text in lower
// case.
func appendUnclosed(at []int, s, low string) []int {
	open := map[string][]int{}
	for i := strings.IndexByte(low, '<'); i >= 0; {
		name, closing := elementIn(low[i:])
		began := open[name]
		switch {
		case name == "" || voidElements.Get()[name]:
		case !closing:
			open[name] = append(began, i)
		case len(began) > 0 && name != "plaintext": // plaintext never ends
			open[name] = began[:len(began)-1]
		}
		next := strings.IndexByte(low[i+1:], '<')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	for name, began := range open {
		for _, i := range began {
			if beginsLine(s, i) && hides(name, s[i:]) {
				at = append(at, i)
			}
		}
	}
	return at
}

// elementIn returns the name of the element whose tag begins a lower-case text, or "" if there is none.
func elementIn(s string) (name string, closing bool) {
	rest, closing := strings.CutPrefix(s[1:], "/")
	end := 0
	for end < len(rest) && (rest[end] >= 'a' && rest[end] <= 'z' || end > 0 && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == '-')) {
		end++
	}
	if !endsName(rest[end:]) {
		return "", false
	}
	return rest[:end], closing
}

// hides reports whether the element whose tag begins s hides its content, by its name or an attribute. A capitalised
// name in a self-closing tag on one line is a component of a program, such as <Select />, and does not count.
func hides(name, s string) bool {
	end, _ := pastTag(s)
	tag := s[:end]
	if component := s[1:1+len(name)] != name && strings.HasSuffix(tag, "/") && strings.IndexByte(tag, '\n') < 0; component {
		return false
	}
	low := lowerASCII(strings.TrimPrefix(tag[1:], s[1:1+len(name)]))
	return hidingElements.Get()[name] || hasAttribute(low, "hidden") || hasAttribute(low, "style")
}

// pastTag returns the end of the tag that begins s. whole is false if the tag is too long or contains another tag.
func pastTag(s string) (end int, whole bool) {
	const longest = 1024
	quote := byte(0)
	for i := range min(len(s), longest) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i, true
		case c == '<' && i > 0, strings.HasPrefix(s[i:], "‹"): // a bracket that was already replaced
			return i, false
		}
	}
	return min(len(s), longest), len(s) < longest
}

// hasAttribute reports whether a lower-case tag has an attribute.
func hasAttribute(tag, name string) bool {
	for i := 0; ; {
		next := strings.Index(tag[i:], name)
		if next < 0 {
			return false
		}
		start := i + next
		i = start + len(name)
		if start > 0 && strings.IndexByte(" \t\n/\"'", tag[start-1]) >= 0 && (endsName(tag[i:]) || tag[i] == '=') {
			return true
		}
	}
}

// lowerASCII converts only ASCII letters. Unlike strings.ToLower, it keeps all byte positions.
func lowerASCII(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// beginsLine reports whether only white space and quotation marks precede s[i] on its line.
func beginsLine(s string, i int) bool {
	before := strings.TrimRight(s[:i], " \t>")
	return before == "" || before[len(before)-1] == '\n'
}

func endsName(rest string) bool {
	return rest == "" || strings.IndexByte(" \t\n/>", rest[0]) >= 0
}
