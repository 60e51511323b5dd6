package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// A Kind describes the records of one kind.
type Kind[R any] struct {
	Table string // holds their rows
	// KeyColumns is the number of the first columns that are the primary key.
	KeyColumns int
	// Label returns the name of a record in messages.
	Label func(r *R) string

	mark   byte // distinguishes the checksums of tables
	fields func(f *Fields, r *R)

	once    sync.Once // guards columns
	columns []string
}

// Columns returns the names of the columns in their order, without that of the checksum.
func (k *Kind[R]) Columns() []string {
	k.once.Do(func() {
		var f Fields
		k.fields(&f, new(R))
		k.columns = f.names
	})
	return k.columns
}

// Values returns the values of the columns: each is an int64, a string, a []byte or nil.
func (k *Kind[R]) Values(r *R) []any {
	f := Fields{mode: reading, values: make([]any, 0, len(k.Columns())+1)}
	k.fields(&f, r)
	return f.values
}

// Row returns the values of the columns and their checksum.
func (k *Kind[R]) Row(r *R) []any {
	values := k.Values(r)
	return append(values, k.Sum(values))
}

// Sum returns the checksum that is stored with the values. Eight bytes are enough against accidents; the hash chain of the
// event log protects against intent.
func (k *Kind[R]) Sum(values []any) []byte { return Sum(k.mark, values) }

// Sum returns the checksum of the values of a row. mark distinguishes the tables.
func Sum(mark byte, values []any) []byte {
	var room [512]byte
	e := append(room[:0], mark)
	for _, v := range values {
		e = appendValue(e, v)
	}
	full := sha256.Sum256(e)
	return full[:8]
}

// appendValue appends the type, then the length of a text or a byte slice, then the value, so that no two rows have the
// same bytes.
func appendValue(e []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(e, 0)
	case int64:
		return binary.BigEndian.AppendUint64(append(e, 1), uint64(v))
	case string:
		return append(binary.BigEndian.AppendUint64(append(e, 2), uint64(len(v))), v...)
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(e, 3), uint64(len(v))), v...)
	}
	return append(e, 4) // a type that waybill never writes
}

// Take sets a record from the beginning of a row, and returns the rest, because a row may join several tables. sound is false if the values are not
// those that were written.
func (k *Kind[R]) Take(row []any, r *R) (rest []any, sound bool) {
	n := len(k.Columns())
	f := Fields{mode: setting, values: row[:n]}
	k.fields(&f, r)
	sum, _ := row[n].([]byte)
	return row[n+1:], f.err == nil && bytes.Equal(sum, k.Sum(row[:n]))
}
