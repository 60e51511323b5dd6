package file

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// hashBeside is the size in bytes above which hashing on a second goroutine saves time.
const hashBeside = 32 << 10

// Hash returns a function that returns the SHA-256 of the text in lower-case hex. A large text is hashed on another
// goroutine in the background. The function waits for that hash, or computes it itself.
func (f *File) Hash() func() string {
	text := f.Text
	sum := sync.OnceValue(func() string { return hashOf(text) })
	if len(text) >= hashBeside {
		go sum() // ends with the hash of a bounded text
	}
	return sum
}

// hashOf hashes in small pieces, because converting the whole text to bytes would double the memory.
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
