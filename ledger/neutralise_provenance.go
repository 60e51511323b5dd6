package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Behind the name of a section stands whose words follow: "(from plan; untrusted)". Whatever name stands before it,
// a line with such a claim in it looks like a section, and is marked. These are claims:
//
//   - A bracket, "from", and later a word of trust that is set apart: by a semicolon before it, or by a comma,
//     colon, bar or dash if no word follows it.
//   - Text in brackets, decoration without words, and then a bracket with "from" and a word of trust in it, or
//     with "from" and nothing but words that are sources.
//   - Text in brackets and "from" without a bracket, if the word of trust is set apart and no word follows it.
//
// So "[a](from/there.md)", "tokens (from a trusted issuer)" and "(from trusted, untrusted and unknown hosts)" are
// no claims.

// claimsOrigin reports whether a line, as it looks, claims whose words follow. Most lines are known not to by a
// word that they do not have.
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

// hasFrom reports whether a line has "from" in it, in letters of whatever case.
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

// wordEnd gives the index behind the letters that begin at s[i].
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

// claimReader reads a line, word by word and sign by sign. White space and what Markdown puts around words do
// not count.
type claimReader struct {
	letters int  // since the last square bracket that opened
	named   bool // text in brackets stands here, and no word behind it
	opener  byte // the bracket that opened and has nothing behind it yet, 0 for none
	last    byte // the last sign, 0 for a word
	spaced  bool // white space stands behind that sign
	claim   claim
}

// claim is what a "from" has begun, and is none as long as it is all zero.
type claim struct {
	begun, named bool
	opener       byte // 0 for a claim that no bracket encloses
	depth        int  // how many such brackets are open
	parted       bool // a semicolon stands in it
	sources      int  // -1 once there was a word that is none
}

// sign reads one that is no letter, and reports whether it completes a claim.
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
		r.named = r.named || r.letters > 1 // one letter is a box
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

// closerOf gives the bracket that ends what another one begins.
var closerOf = [utf8.RuneSelf]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// word reads a word with what stands behind it on the line, and reports whether it completes a claim.
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

// setApart reports whether a word of trust stands by itself in what may be a claim.
func (r *claimReader) setApart(behind string) bool {
	if r.last == ';' && r.claim.opener != 0 {
		return true
	}
	apart := r.claim.parted || r.last != 0 && strings.IndexByte(",:|", r.last) >= 0 || r.last == '-' && r.spaced
	behind = strings.TrimLeft(behind, " \t*_~`\\\"'")
	return apart && (behind == "" || !isWordByte(behind[0]) && wordEnd(behind, 0) == 0)
}
