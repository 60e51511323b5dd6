package store

import (
	"crypto/sha256"
	"encoding/binary"
)

// A Hash is the SHA-256 that chains the records of the event log.
type Hash [sha256.Size]byte

// Chain returns the hash of a record that follows a record with the hash prev. The first record follows the zero Hash.
// The hash covers the length and the bytes of every other field, so that no two records hash the same bytes.
func Chain(prev Hash, ev Event) Hash {
	buf := make([]byte, 0, 96+len(ev.Type)+len(ev.Subject)+len(ev.Data))
	buf = append(buf, prev[:]...)
	buf = binary.BigEndian.AppendUint64(buf, uint64(ev.Seq))
	buf = binary.BigEndian.AppendUint64(buf, uint64(ev.At))
	for _, field := range []string{string(ev.Type), ev.Subject, ev.Data} {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(field)))
		buf = append(buf, field...)
	}
	return sha256.Sum256(buf)
}
