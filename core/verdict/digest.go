package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// Digest returns a digest of the letters and digits of a text, ignoring case. Texts that differ only in white space,
// punctuation or invisible characters have the same digest.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)))
	return hex.EncodeToString(sum[:8])
}
