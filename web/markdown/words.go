package markdown

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// unescape resolves backslash escapes and character references. It makes one pass, so that its result is not resolved
// again.
func unescape(written []byte) string {
	var b strings.Builder
	for i := 0; i < len(written); {
		c := written[i]
		if c == '\\' && i+1 < len(written) && util.IsPunct(written[i+1]) {
			b.WriteByte(written[i+1])
			i += 2
			continue
		}
		if c == '&' {
			mark := entityLength(written[i:])
			b.Write(util.ResolveNumericReferences(util.ResolveEntityNames(written[i : i+mark])))
			i += mark
			continue
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// maxEntityLength is the length of the longest character reference.
const maxEntityLength = 40

// entityLength returns the length of the character reference at the start, or 1 if there is none.
func entityLength(written []byte) int {
	for i := 1; i < min(len(written), maxEntityLength); i++ {
		switch c := written[i]; {
		case c == ';':
			return i + 1
		case c != '#' && !util.IsAlphaNumeric(c):
			return 1
		}
	}
	return 1
}

// linkURL returns the URL of a link, or "" if it is not allowed.
func linkURL(destination []byte) string { return allowedURL(util.URLEscape(destination, true)) }

// plainLinkURL is linkURL for an address without escapes.
func plainLinkURL(written []byte) string { return allowedURL(util.URLEscape(written, false)) }

// allowedURL returns the URL if its scheme is on the allow-list, and "" otherwise.
func allowedURL(written []byte) string {
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
