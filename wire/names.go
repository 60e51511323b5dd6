package wire

import (
	"bytes"
	"hash/maphash"
)

// A nameSet holds the member names of the open objects, to find duplicates. Its memory is limited by the message: eight
// words for each name of a large object.
type nameSet struct {
	all  [][]byte // of all open objects, the innermost last
	seed maphash.Seed
}

// A scope is one open object.
type scope struct {
	first int      // index of its first name in all
	table []uint32 // for a large object: open addressing, positions in all plus one
}

// maxLinear is the number of names up to which they are compared one by one.
const maxLinear = 16

func (n *nameSet) open() scope { return scope{first: len(n.all)} }

func (n *nameSet) close(s scope) { n.all = n.all[:s.first] }

// add adds a name and reports whether it is new in the object.
func (n *nameSet) add(s *scope, name []byte) bool {
	known := n.all[s.first:]
	if len(known) < maxLinear {
		for _, k := range known {
			if bytes.Equal(k, name) {
				return false
			}
		}
		n.all = append(n.all, name)
		return true
	}
	if len(known)*2 >= len(s.table) {
		n.rehash(s)
	}
	slot := n.slot(s, name)
	if s.table[slot] != 0 {
		return false
	}
	n.all = append(n.all, name)
	s.table[slot] = uint32(len(n.all))
	return true
}

// slot returns the position of a name in the table, or the free one where it belongs.
func (n *nameSet) slot(s *scope, name []byte) uint64 {
	mask := uint64(len(s.table) - 1)
	at := maphash.Bytes(n.seed, name) & mask
	for s.table[at] != 0 && !bytes.Equal(n.all[s.table[at]-1], name) {
		at = (at + 1) & mask
	}
	return at
}

// rehash rebuilds the table with at least four slots for each name.
func (n *nameSet) rehash(s *scope) {
	if n.seed == (maphash.Seed{}) {
		n.seed = maphash.MakeSeed()
	}
	size := 4 * maxLinear
	for size < 4*(len(n.all)-s.first) {
		size *= 2
	}
	s.table = make([]uint32, size)
	for i := s.first; i < len(n.all); i++ {
		s.table[n.slot(s, n.all[i])] = uint32(i + 1)
	}
}
