package verdict

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// notEmpty reports whether a header has a value. Words such as "none" and blanks to fill in are no value.
func (h header) notEmpty(n *notes) bool {
	if len(h.items) > 0 {
		return true
	}
	v := h.value
	blankForm := strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") || strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}")
	nothing := func(word string) bool { return strings.EqualFold(word, v) }
	if blankForm || slices.ContainsFunc([]string{"none", "n/a", "null", "-", "[]"}, nothing) {
		n.warn(placeholder, h.at, "%s was read as empty: %s", h.key, foreign(h.value))
		return false
	}
	return v != ""
}

// entries returns the items of a header.
func (h header) entries(separator string, n *notes) []string {
	g := boundedList[string]{field: h.key}
	h.split(separator, &g, n)
	return g.done(n)
}

// split gathers the items of a header.
func (h header) split(separator string, g *boundedList[string], n *notes) {
	for item := range strings.SplitSeq(h.value, separator) {
		h.item(item, g, n)
	}
	for _, item := range h.items {
		h.item(item, g, n)
	}
	if h.more > 0 {
		g.skip(h.more, h.at)
	}
}

func (h header) item(item string, g *boundedList[string], n *notes) {
	item = trim(item)
	plain := bare(item)
	if plain == "" {
		return
	}
	if plain != item && !g.full() {
		n.warn(decoration, h.at, "an item of %s is decorated", h.key)
	}
	keep(g, plain, h.at, n)
}

// Range returns the GitRange if it is <base>..<head> and whole, and "" for any other.
func (r Result) Range() string {
	if !isRange(r.GitRange) || strings.ContainsAny(r.GitRange, ellipsis+string(utf8.RuneError)) {
		return ""
	}
	return r.GitRange
}

// isRange reports whether a text is <base>..<head> in characters of revisions. A leading dash would be an option to
// git.
func isRange(s string) bool {
	base, head, ok := strings.Cut(s, "..")
	return ok && base != "" && base[0] != '-' && head != "" && head[0] != '.' && !strings.Contains(head, "..") &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._/-~^@{}+#", r)
		})
}
