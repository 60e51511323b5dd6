package markdown

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// unescaped gives words without the marks that say how they are meant: a backslash before a sign, and a character by
// its name or number. It goes over them once, so what it gives is not taken for such a mark again.
func unescaped(written []byte) string {
	var b strings.Builder
	for i := 0; i < len(written); {
		c := written[i]
		if c == '\\' && i+1 < len(written) && util.IsPunct(written[i+1]) {
			b.WriteByte(written[i+1])
			i += 2
			continue
		}
		if c == '&' {
			mark := reference(written[i:])
			b.Write(util.ResolveNumericReferences(util.ResolveEntityNames(written[i : i+mark])))
			i += mark
			continue
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// longestName is that of a character, with the signs around it.
const longestName = 40

// reference gives how long what begins with an ampersand is: up to a semicolon, or the sign alone.
func reference(written []byte) int {
	for i := 1; i < min(len(written), longestName); i++ {
		switch c := written[i]; {
		case c == ';':
			return i + 1
		case c != '#' && !util.IsAlphaNumeric(c):
			return 1
		}
	}
	return 1
}

// address gives where a link leads, or "" if that may not be followed.
func address(destination []byte) string { return allowed(util.URLEscape(destination, true)) }

// plainAddress is address for one in which nothing is escaped.
func plainAddress(written []byte) string { return allowed(util.URLEscape(written, false)) }

// allowed is an allow-list: all else that there is, and will ever be, leads nowhere.
func allowed(written []byte) string {
	if len(written) > maxURL || !utf8.Valid(written) {
		return ""
	}
	to, err := url.Parse(string(written))
	if err != nil {
		return ""
	}
	switch to.Scheme {
	case "http", "https":
		if to.Host == "" {
			return ""
		}
	case "mailto":
		if to.Opaque == "" {
			return ""
		}
	default:
		return ""
	}
	return string(written)
}
