// Package o200k counts tokens as the encoding o200k_base of newer OpenAI models does.
//
// It counts only: the ids of tokens leave it with no function. Texts of special tokens count as plain text.
package o200k

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"hash/maphash"
	"io"
	"math"
	"sync"
	"unicode/utf8"
)

// vocabulary.bin has all tokens in the order of their ranks, compressed. In front of each is its length in one byte.
//
//go:embed vocabulary.bin
var vocabulary []byte

// Count returns the number of tokens of a text. Each byte that is not UTF-8 counts as the replacement character. Its time is in proportion to n log n for a text of n bytes.
func Count(text string) (n int) {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	for text != "" {
		piece := text[:pieceEnd(text)]
		text = text[len(piece):]
		n += ranks().count(piece)
	}
	return n
}

// ranks returns the table of all tokens. Its construction takes 20 ms, so the first use waits for it.
var ranks = sync.OnceValue(readTable)

// A table finds the rank of a token.
type table struct {
	text  []byte
	ends  []uint32 // by rank: where the token ends in text; it begins where the one before ends
	slots []uint32 // open addressing: the rank and one, or 0 for a free slot
	seed  maphash.Seed
}

// slotBits makes the table about twice as large as the number of tokens.
const slotBits = 19

func readTable() *table {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(vocabulary)))
	if err != nil {
		panic("the vocabulary is damaged: " + err.Error())
	}
	t := &table{text: make([]byte, 0, len(raw)), slots: make([]uint32, 1<<slotBits), seed: maphash.MakeSeed()}
	for len(raw) > 0 {
		token := raw[1 : 1+raw[0]]
		raw = raw[1+len(token):]
		t.text = append(t.text, token...)
		t.ends = append(t.ends, uint32(len(t.text)))
		at := t.slot(string(token))
		for t.slots[at] != 0 {
			at = (at + 1) % uint32(len(t.slots))
		}
		t.slots[at] = uint32(len(t.ends))
	}
	return t
}

func (t *table) slot(token string) uint32 {
	return uint32(maphash.String(t.seed, token) >> (64 - slotBits))
}

// none is the rank of what is no token.
const none = math.MaxUint32

func (t *table) rank(text string) uint32 {
	for at := t.slot(text); t.slots[at] != 0; at = (at + 1) % uint32(len(t.slots)) {
		rank := t.slots[at] - 1
		from := uint32(0)
		if rank > 0 {
			from = t.ends[rank-1]
		}
		if string(t.text[from:t.ends[rank]]) == text {
			return rank
		}
	}
	return none
}

// count returns the number of tokens of one piece: its bytes are joined in pairs, that with the lowest rank first, until no
// pair is a token.
func (t *table) count(piece string) int {
	if t.rank(piece) != none {
		return 1
	}
	parts := make([]part, len(piece)+1) // the last one is empty, and ends the list
	var pairs heap
	rankPair := func(at int32) {
		p := &parts[at]
		p.pair = none
		if p.next < int32(len(piece)) {
			p.pair = t.rank(piece[at:parts[p.next].next])
		}
		if p.pair != none {
			pairs.push(uint64(p.pair)<<32 | uint64(at))
		}
	}
	for i := range parts {
		parts[i] = part{before: int32(i) - 1, next: int32(i) + 1}
	}
	for i := range len(piece) {
		rankPair(int32(i))
	}
	n := len(piece)
	for len(pairs) > 0 {
		lowest := pairs.pop()
		at := int32(lowest & math.MaxUint32)
		if p := &parts[at]; uint64(p.pair) != lowest>>32 {
			continue // one of its parts was joined with another before
		}
		joined := parts[at].next
		parts[joined].pair = none
		parts[at].next = parts[joined].next
		parts[parts[at].next].before = at
		n--
		rankPair(at)
		if before := parts[at].before; before >= 0 {
			rankPair(before)
		}
	}
	return n
}

// A part is a run of bytes that are joined already. Its index is where it begins.
type part struct {
	before, next int32
	pair         uint32 // rank of the token that it makes with the next part
}

// A heap has the smallest of its numbers first.
type heap []uint64

func (h *heap) push(x uint64) {
	s := append(*h, x)
	for i := len(s) - 1; i > 0 && s[i] < s[(i-1)/2]; i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
	*h = s
}

func (h *heap) pop() uint64 {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && s[child+1] < s[child] {
			child++
		}
		if child >= last || s[i] <= s[child] {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
	return first
}
