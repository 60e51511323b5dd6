package planfile

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// hashBeside is the size from which hashing takes longer than to wake a second processor.
const hashBeside = 32 << 10

// Hash gives a function that gives the SHA-256 of the text in lower-case hex. A large text is hashed on
// another processor meanwhile, if there is an idle one; the function waits for it, or does it itself.
func (f *File) Hash() func() string {
	text := f.Text
	sum := sync.OnceValue(func() string { return hashOf(text) })
	if len(text) >= hashBeside {
		go sum() // ends with the hash, of a text of bounded size
	}
	return sum
}

// hashOf hashes piece by piece: to convert the whole text would need as much memory once more.
func hashOf(text string) string {
	h := sha256.New()
	piece := make([]byte, min(len(text), 8<<10))
	for text != "" {
		n := copy(piece, text)
		h.Write(piece[:n])
		text = text[n:]
	}
	return hex.EncodeToString(h.Sum(nil))
}
