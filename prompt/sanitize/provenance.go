package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A section name is followed by the source of its text: "(from plan; untrusted)". A line with such a claim looks like
// a section, whatever name precedes it, and is marked. These are claims:
//
//   - A bracket, "from", and later a trust word that is set apart: after a semicolon; or after a comma, colon, bar or
//     dash, if no word follows it.
//   - Text in brackets, decoration without words, and then a bracket with "from". This bracket contains a trust word, or
//     only words that are sources.
//   - Text in brackets and "from" without a bracket, if the trust word is set apart and no word follows it.
//
// "[a](from/there.md)", "tokens (from a trusted issuer)" and "(from trusted, untrusted and unknown hosts)" are
// therefore not claims.

// claimsOrigin reports whether a line claims a source. Most lines are excluded because they do not contain "from".
func claimsOrigin(line string) bool {
	if !hasFrom(line) {
		return false
	}
	var r claimReader
	for i := 0; i < len(line); {
		end := wordEnd(line, i)
		var found bool
		if end > i {
			found = r.word(line[i:end], line[end:])
		} else {
			_, width := utf8.DecodeRuneInString(line[i:])
			end = i + width
			found = r.sign(line[i])
		}
		if found {
			return true
		}
		i = end
	}
	return false
}

// hasFrom reports whether a line contains "from" in any case.
func hasFrom(line string) bool {
	for _, first := range [...]byte{'f', 'F'} {
		for rest := line; ; {
			i := strings.IndexByte(rest, first)
			if i < 0 || i+len("from") > len(rest) {
				break
			}
			if strings.EqualFold(rest[i:i+len("from")], "from") {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

// wordEnd returns the index after the letters at s[i].
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, width := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) {
			break
		}
		i += width
	}
	return i
}

// claimReader reads a line word by word. It ignores white space, and Markdown markup around words.
type claimReader struct {
	letters int  // since the last opening square bracket
	named   bool // bracketed text precedes, with no word after it
	opener  byte // the bracket that was just opened, 0 for none
	last    byte // the last sign, 0 for a word
	spaced  bool // white space follows that sign
	claim   claim
}

// claim is the state of a possible claim after "from". The zero value means that no claim has begun.
type claim struct {
	begun, named bool
	opener       byte // 0 for a claim without an enclosing bracket
	depth        int  // the number of open brackets of this kind
	parted       bool // a semicolon was read
	sources      int  // number of source words, -1 after any other word
}

// sign reads a character that is not a letter, and reports whether it completes a claim.
func (r *claimReader) sign(c byte) bool {
	if c == ' ' || c == '\t' {
		r.spaced = true
		return false
	}
	if strings.IndexByte("*_~`\\\"'", c) >= 0 {
		return false
	}
	r.last, r.spaced, r.opener = c, false, 0
	switch c {
	case '[':
		r.letters, r.opener = 0, c
	case '(', '{', '<':
		r.opener = c
	case ']':
		r.named = r.named || r.letters > 1 // a single letter is a checkbox
	}
	return r.claim.sign(c)
}

func (c *claim) sign(sign byte) bool {
	switch {
	case !c.begun:
	case sign == ';':
		c.parted = true
	case c.opener == 0:
	case sign == c.opener:
		c.depth++
	case sign == closerOf[c.opener]:
		if c.depth--; c.depth == 0 {
			found := c.named && c.sources > 0
			*c = claim{}
			return found
		}
	}
	return false
}

// closerOf maps an opening bracket to its closing one.
var closerOf = [utf8.RuneSelf]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// word reads a word, given the rest of the line, and reports whether it completes a claim.
func (r *claimReader) word(word, behind string) bool {
	r.letters += len(word)
	c, found := &r.claim, false
	switch low := strings.ToLower(word); low {
	case "from":
		enclosed := r.opener != 0
		if (enclosed || r.named) && (c.opener == 0 || r.named && !c.named) {
			*c = claim{begun: true, named: r.named, opener: r.opener, depth: 1}
		}
	case "trust", "trusted", "trustworthy", "untrusted":
		found = c.begun && (c.named && c.opener != 0 || r.setApart(behind))
	case "the", "and":
	case string(SourceWaybill), string(SourceHost), string(SourcePlan), string(SourceRequirements), string(SourceWorker), string(SourceReviewer):
		if c.sources >= 0 {
			c.sources++
		}
	default:
		c.sources = -1
	}
	r.named, r.opener, r.last, r.spaced = false, 0, 0, false
	return found
}

// setApart reports whether a trust word is separated from the surrounding words of a possible claim.
func (r *claimReader) setApart(behind string) bool {
	if r.last == ';' && r.claim.opener != 0 {
		return true
	}
	apart := r.claim.parted || r.last != 0 && strings.IndexByte(",:|", r.last) >= 0 || r.last == '-' && r.spaced
	behind = strings.TrimLeft(behind, " \t*_~`\\\"'")
	return apart && (behind == "" || !isWordByte(behind[0]) && wordEnd(behind, 0) == 0)
}
