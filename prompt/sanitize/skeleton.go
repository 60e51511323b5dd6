package sanitize

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"waybill/internal/lazy"
)

// A skeleton is the look of a text, in ASCII where possible. Compatibility forms (full width, circled, mathematical)
// are decomposed, combining marks are dropped, and look-alikes replace letters of other scripts. A skeleton is only
// compared, never shown.

// skeleton returns the skeleton of s, cut at about most bytes.
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

// appendLooks appends the look of one character, which has the encoding s. It decomposes a composed character only if
// its base has a known look.
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

// isIdeograph reports whether r is an East Asian character that resembles no ASCII character.
func isIdeograph(r rune) bool {
	return r >= 0x3400 && r < 0xa000 || r >= 0x3041 && r < 0x3097 || r >= 0x30a1 && r < 0x30fb || r >= 0xac00 && r < 0xd7a4
}

// appendSeen appends a character unless it is a mark on the previous one.
func appendSeen(out []byte, r rune) []byte {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return out
	}
	return utf8.AppendRune(out, r)
}

// looks returns the ASCII character that r resembles, if one is known.
func looks(r rune) (byte, bool) {
	switch {
	case r < utf8.RuneSelf:
		return byte(r), true
	case r >= 0xff01 && r <= 0xff5e: // full width, the most common
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
	c, known := lookalikes.Get()[r]
	return c, known
}

// lookalikes are the look-alikes that Unicode does not decompose, with their ASCII character.
var lookalikes = lazy.Value[map[rune]byte]{Of: func() map[rune]byte {
	return readLookalikes(
		// Small letters: Cyrillic, Greek, Armenian, Latin that is rarely used, small capitals.
		"aаαɑᴀ", "bЬьʙ", "cсϲᴄ", "dԁᴅɗ", "eеєεᴇҽ", "fꜰƒ", "gɡցɢ", "hһհʜн", "iіιıɩɪ", "jјϳᴊ", "kкκᴋ", "lӏʟ", "mмᴍ", "nпηոɴ",
		"oоοօᴏ", "pрρᴘ", "qԛզ", "rгʀ", "sѕꜱ", "tтτᴛ", "uυսᴜ", "vνѵᴠ", "wԝωᴡ", "xхχ", "yуγүʏ", "zᴢ",
		// Capitals: Cyrillic, Greek, Cherokee.
		"AАΑᎪ", "BВΒᏴ", "CСᏟϹ", "DԀᎠ", "EЕΕᎬ", "FϜ", "GԌᏀ", "HНΗᎻ", "IІΙӀᏆ", "JЈᎫ", "KКΚᏦ", "LᏞ", "MМΜᎷ", "NΝ",
		"OОΟՕ", "PРΡᏢ", "QԚ", "RᎡ", "SЅᏚՏ", "TТΤᎢ", "UՍ", "VѴᏙ", "WԜᎳ", "XХΧ", "YҮΥᎩ", "ZΖᏃ",
		// Brackets, bars, colons, semicolons, dashes and list bullets.
		"[【〔〖〘〚⁅❲⟦⦋⦍⦏⟬⎡⎣⌈⌊⦗", "]】〕〗〙〛⁆❳⟧⦌⦎⦐⟭⎤⎦⌉⌋⦘", "|∣ǀ", ":∶։ː", ";⁏", "_‗", "-‐‑‒–—−•‣◦▪·", "<˂ᐸ", ">˃ᐳ", "/∕⁄",
	)
}}

// readLookalikes parses lists. The first character of each list is the look of all others.
func readLookalikes(lists ...string) map[rune]byte {
	table := map[rune]byte{}
	for _, list := range lists {
		for _, r := range list[1:] {
			table[r] = list[0]
		}
	}
	return table
}
