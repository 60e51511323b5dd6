package entity

import "unicode/utf8"

// excerptBytes bounds the part of a long text that a list shows.
const excerptBytes = 1024

// Beginning returns the beginning of a long text.
func Beginning(text string) string {
	if len(text) <= excerptBytes {
		return text
	}
	cut := excerptBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Ending returns the end of a long text.
func Ending(text string) string {
	if len(text) <= excerptBytes {
		return text
	}
	cut := len(text) - excerptBytes
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	return "…" + text[cut:]
}
