package wire

import (
	"bytes"
	"hash/maphash"
)

// A names knows the members' names of the objects that are being read, to find those that occur
// twice. Its memory is bounded by the message: eight words for each name of a large object.
type names struct {
	all  [][]byte // of all open objects, the innermost last
	seed maphash.Seed
}

// A scope is one open object.
type scope struct {
	first int      // its first name in all
	table []uint32 // for a large object: open addressing, positions in all plus one
}

// fewNames is up to how many names are compared one by one.
const fewNames = 16

func (n *names) open() scope { return scope{first: len(n.all)} }

func (n *names) close(s scope) { n.all = n.all[:s.first] }

// add notes a name and reports whether the object did not have it yet.
func (n *names) add(s *scope, name []byte) bool {
	known := n.all[s.first:]
	if len(known) < fewNames {
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

// slot finds where a name is in the table, or where it would be.
func (n *names) slot(s *scope, name []byte) uint64 {
	mask := uint64(len(s.table) - 1)
	at := maphash.Bytes(n.seed, name) & mask
	for s.table[at] != 0 && !bytes.Equal(n.all[s.table[at]-1], name) {
		at = (at + 1) & mask
	}
	return at
}

// rehash gives the table four places for each name.
func (n *names) rehash(s *scope) {
	if n.seed == (maphash.Seed{}) {
		n.seed = maphash.MakeSeed()
	}
	size := 4 * fewNames
	for size < 4*(len(n.all)-s.first) {
		size *= 2
	}
	s.table = make([]uint32, size)
	for i := s.first; i < len(n.all); i++ {
		s.table[n.slot(s, n.all[i])] = uint32(i + 1)
	}
}
