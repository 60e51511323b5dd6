package ledger

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A skeleton is what a text looks like, in ASCII as far as it goes: compatibility forms (full width, circled,
// mathematical) are decomposed, marks upon letters are dropped, and letters of other scripts become those that
// they are drawn like. It is only compared, and never shown.

// skeleton gives that of s, or of as much of s as makes so many bytes.
func skeleton(s string, most int) string {
	out := make([]byte, 0, min(len(s), most)+utf8.UTFMax)
	for i := 0; i < len(s) && len(out) < most; {
		if s[i] < utf8.RuneSelf {
			out = append(out, s[i])
			i++
			continue
		}
		r, width := utf8.DecodeRuneInString(s[i:])
		out = appendLooks(out, r, s[i:i+width])
		i += width
	}
	return string(out)
}

// appendLooks appends what one character, which is written as s, looks like. One that is made of others is taken
// apart only if the first of them looks like something.
func appendLooks(out []byte, r rune, s string) []byte {
	if isIdeograph(r) {
		return append(out, s...)
	}
	if c, known := looks(r); known {
		return append(out, c)
	}
	whole := norm.NFKD.PropertiesString(s).Decomposition()
	part, _ := utf8.DecodeRune(whole)
	if _, known := looks(part); len(whole) == 0 || !known {
		return appendSeen(out, r)
	}
	for len(whole) > 0 {
		part, width := utf8.DecodeRune(whole)
		whole = whole[width:]
		if c, known := looks(part); known {
			out = append(out, c)
		} else {
			out = appendSeen(out, part)
		}
	}
	return out
}

// isIdeograph reports whether r is one of the many characters of East Asia that look like nothing in ASCII.
func isIdeograph(r rune) bool {
	return r >= 0x3400 && r < 0xa000 || r >= 0x3041 && r < 0x3097 || r >= 0x30a1 && r < 0x30fb || r >= 0xac00 && r < 0xd7a4
}

// appendSeen appends a character but for what is no more than a mark upon the one before it.
func appendSeen(out []byte, r rune) []byte {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return out
	}
	return utf8.AppendRune(out, r)
}

// looks gives the ASCII character that r looks like, if it is known here.
func looks(r rune) (byte, bool) {
	switch {
	case r < utf8.RuneSelf:
		return byte(r), true
	case r >= 0xff01 && r <= 0xff5e: // full width, which is the most common
		return byte(r - 0xff01 + '!'), true
	case unicode.IsSpace(r) || r == 0x2800:
		return ' ', true
	case r >= 0x1f150 && r <= 0x1f169: // white on a black circle
		return 'A' + byte(r-0x1f150), true
	case r >= 0x1f170 && r <= 0x1f189: // white on a black square
		return 'A' + byte(r-0x1f170), true
	case r >= 0x1f1e6 && r <= 0x1f1ff: // the letters of flags
		return 'A' + byte(r-0x1f1e6), true
	}
	c, known := lookalikes[r]
	return c, known
}

// lookalikes has what Unicode does not decompose.
var lookalikes = readLookalikes(
	// Small letters: Cyrillic, Greek, Armenian, Latin that is rarely used, small capitals.
	"aаαɑᴀ", "bЬьʙ", "cсϲᴄ", "dԁᴅɗ", "eеєεᴇҽ", "fꜰƒ", "gɡցɢ", "hһհʜн", "iіιıɩɪ", "jјϳᴊ", "kкκᴋ", "lӏʟ", "mмᴍ", "nпηոɴ",
	"oоοօᴏ", "pрρᴘ", "qԛզ", "rгʀ", "sѕꜱ", "tтτᴛ", "uυսᴜ", "vνѵᴠ", "wԝωᴡ", "xхχ", "yуγүʏ", "zᴢ",
	// Capitals: Cyrillic, Greek, Cherokee.
	"AАΑᎪ", "BВΒᏴ", "CСᏟϹ", "DԀᎠ", "EЕΕᎬ", "FϜ", "GԌᏀ", "HНΗᎻ", "IІΙӀᏆ", "JЈᎫ", "KКΚᏦ", "LᏞ", "MМΜᎷ", "NΝ",
	"OОΟՕ", "PРΡᏢ", "QԚ", "RᎡ", "SЅᏚՏ", "TТΤᎢ", "UՍ", "VѴᏙ", "WԜᎳ", "XХΧ", "YҮΥᎩ", "ZΖᏃ",
	// Brackets, bars, colons, semicolons, lines and what lists begin with.
	"[【〔〖〘〚⁅❲⟦⦋⦍⦏⟬", "]】〕〗〙〛⁆❳⟧⦌⦎⦐⟭", "|∣ǀ", ":∶։ː", ";⁏", "_‗", "-‐‑‒–—−•‣◦▪·", "<˂ᐸ", ">˃ᐳ", "/∕⁄",
)

// readLookalikes reads lists that each begin with the character that the others look like.
func readLookalikes(lists ...string) map[rune]byte {
	table := map[rune]byte{}
	for _, list := range lists {
		for _, r := range list[1:] {
			table[r] = list[0]
		}
	}
	return table
}
