package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Characters that a person cannot see, or sees in another position, are removed. They carry text for models only,
// split words to evade rules, or reorder a line. Invisible characters that a language or an emoji needs stay. Visible
// characters always stay, including private ones, because a font may draw them.

// strip removes invisible characters, except those that their neighbours need, and counts them.
func strip(s string) (seen string, removed int) {
	var b strings.Builder
	kept, last := 0, rune(0) // s[:kept] is already written or dropped; last is the last character kept
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		if flag := flagTags(s[i:], r); flag > 0 {
			i += flag
			last = tagEnd
			continue
		}
		if useful(r, last, s[i+width:]) || !unseen(r, width) && !joins(r) && !selects(r) {
			i += width
			last = r
			continue
		}
		b.WriteString(s[kept:i])
		i += width
		kept = i
		removed++
	}
	if kept == 0 {
		return s, 0
	}
	b.WriteString(s[kept:])
	return b.String(), removed
}

// unseen reports whether a character is removed in any context.
func unseen(r rune, width int) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError:
		return width == 1 // a byte that is not UTF-8
	case r < ' ', r >= 0x7f && r < 0xa0: // C0, DEL, C1: terminals interpret them
		return true
	case r < 0xad, r > 0xad && r < 0x34f, r > 0x3164 && r < 0xd800: // most characters of ordinary text
		return false
	case r == 0x2028, r == 0x2029: // line ends for some readers only
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags spell invisible ASCII; selectors beyond the 16th carry bytes
		return true
	case r == 0x1d159: // a note without a head
		return true
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // noncharacters, reserved for use inside a program
		return true
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r): // fillers of Hangul, joiners of graphemes, …
		return true
	}
	return unicode.Is(unicode.Cf, r) && !joins(r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && r != 0x070f
}

// joins reports whether r is an invisible joiner or direction mark, which many scripts and emoji need. It stays next
// to such text.
func joins(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r == 0x061c
}

// selects reports whether r is a variation selector, which changes how the preceding character is drawn.
func selects(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0x180b && r <= 0x180f
}

// useful reports whether the joiner or selector r affects the character before or after it.
func useful(r, last rune, rest string) bool {
	switch {
	case joins(r):
		next, _ := utf8.DecodeRuneInString(rest)
		return joinable(last) || last == 0xfe0f || joinable(next)
	case r >= 0xfe0e && r <= 0xfe0f: // text style and emoji style
		return pictured(last) || keycap(last) && strings.HasPrefix(rest, "\u20e3")
	case r >= 0xfe00 && r <= 0xfe02: // for ideographs, mathematics and a few scripts
		return unicode.In(last, unicode.Han, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean) || last >= 0x2190 && last <= 0x2aff
	case selects(r) && r < 0xfe00 && r != 0x180e:
		return unicode.Is(unicode.Mongolian, last) && !selects(last)
	}
	return false
}

// joinable reports whether r is part of an emoji, or of a script with joiners or right-to-left text. Between letters
// of Latin, Greek, Cyrillic or East Asian scripts, joiners could only carry hidden bits.
func joinable(r rune) bool {
	if r < utf8.RuneSelf || joins(r) || selects(r) || unseen(r, 1) {
		return false
	}
	return unicode.In(r, unicode.So, unicode.Sk) || unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !unicode.In(r, unicode.Latin, unicode.Greek,
		unicode.Cyrillic, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Inherited)
}

// pictured reports whether a selector can draw r in text style or emoji style.
func pictured(r rune) bool {
	switch r {
	case 0x203c, 0x2049, 0x2139, 0x3030, 0x303d:
		return true
	}
	return r >= 0x2190 && r <= 0x2bff || r >= utf8.RuneSelf && unicode.Is(unicode.So, r)
}

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

const tagEnd = 0xe007f

// flagTags returns the length of a flag at the beginning of s, or 0. Only three sequences of tags are flags.
func flagTags(s string, first rune) int {
	if first != '🏴' {
		return 0
	}
	for _, flag := range [...]string{
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
	} {
		if strings.HasPrefix(s, flag) {
			return len(flag)
		}
	}
	return 0
}
