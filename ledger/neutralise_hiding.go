package ledger

import "strings"

// A reader of HTML or Markdown does not show some things, or shows them as code, until their end. One that
// nothing in the text ends would hide our sections behind it, so its bracket is blunted. Most count only where a
// line begins with them, since people write about them.

// hiding are those that are no elements.
var hiding = [...]struct {
	begin, end string
	lines      bool
}{
	{"<!--", "-->", false},
	{"<![cdata[", "]]>", false},
	{"<?", "?>", true},
	{"<!", ">", true}, // a letter follows
}

// hidingElements are not shown at all, not as what they are, or not until somebody asks for it.
var hidingElements = names(
	"audio", "canvas", "datalist", "details", "dialog", "iframe", "noembed", "noframes", "noscript", "object",
	"plaintext", "pre", "script", "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
)

// voidElements have no end.
var voidElements = names(
	"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
)

// appendHiding appends the places of those that nothing in the text ends.
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

// appendUnclosed appends the places of the elements that hide what follows. low is the text in small letters.
func appendUnclosed(at []int, s, low string) []int {
	open := map[string][]int{}
	for i := strings.IndexByte(low, '<'); i >= 0; {
		name, closing := elementIn(low[i:])
		began := open[name]
		switch {
		case name == "" || voidElements[name]:
		case !closing:
			open[name] = append(began, i)
		case len(began) > 0 && name != "plaintext": // which never ends
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

// elementIn gives the name of the element whose tag a text, in small letters, begins with, "" if there is none.
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

// hides reports whether the element whose tag s begins with hides what stands in it, by what it is or because it
// says so. A name with a capital that ends at once, on its line, is a component of somebody's code: <Select />.
func hides(name, s string) bool {
	end, _ := pastTag(s)
	tag := s[:end]
	if component := s[1:1+len(name)] != name && strings.HasSuffix(tag, "/") && strings.IndexByte(tag, '\n') < 0; component {
		return false
	}
	low := lowerASCII(strings.TrimPrefix(tag[1:], s[1:1+len(name)]))
	return hidingElements[name] || hasAttribute(low, "hidden") || hasAttribute(low, "style")
}

// pastTag gives where a tag ends that s begins with. One that is longer than it should be, or has another within
// it, is not read to its end.
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
		case c == '<' && i > 0, strings.HasPrefix(s[i:], "‹"): // which was one before
			return i, false
		}
	}
	return min(len(s), longest), len(s) < longest
}

// hasAttribute reports whether a tag, in small letters, has an attribute.
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

// lowerASCII keeps the places of all bytes, which strings.ToLower does not.
func lowerASCII(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// beginsLine reports whether nothing but white space and quotation marks stands before s[i] on its line.
func beginsLine(s string, i int) bool {
	before := strings.TrimRight(s[:i], " \t>")
	return before == "" || before[len(before)-1] == '\n'
}

func endsName(rest string) bool {
	return rest == "" || strings.IndexByte(" \t\n/>", rest[0]) >= 0
}
