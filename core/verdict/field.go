package verdict

import (
	"slices"
	"strings"
)

// notEmpty reports whether a header says something. A word such as "none" says nothing, and neither
// does a blank that was not filled in.
func (h header) notEmpty(n *notes) bool {
	if len(h.items) > 0 {
		return true
	}
	v := strings.ToLower(h.value)
	blankForm := strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") || strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}")
	if blankForm || slices.Contains([]string{"none", "n/a", "null", "-", "[]"}, v) {
		n.warn(placeholder, h.at, "%s was read as empty: %s", h.key, foreign(h.value))
		return false
	}
	return v != ""
}

// split gives the items of a header.
func (h header) split(separator string, n *notes) []string {
	var items []string
	add := func(item string) bool {
		item = trim(item)
		plain := bare(item)
		if plain == "" {
			return true
		}
		if len(items) == maxEntries {
			n.warn(listCut, h.at, "%s has more than %d entries; the rest was left out", h.key, maxEntries)
			return false
		}
		if plain != item {
			n.warn(decoration, h.at, "an item of %s is decorated", h.key)
		}
		items = append(items, plain)
		return true
	}
	for item := range strings.SplitSeq(h.value, separator) {
		if !add(item) {
			return items
		}
	}
	for _, item := range h.items {
		if !add(item) {
			return items
		}
	}
	return items
}

// isRange reports whether a text is <base>..<head>.
func isRange(s string) bool {
	base, head, ok := strings.Cut(s, "..")
	return ok && base != "" && head != "" && head[0] != '.' && !strings.Contains(head, "..") &&
		!strings.ContainsAny(s, " \t<>|;,")
}
