// Package record describes each record of a store once: its table, and its fields in their order. The columns of its rows,
// their checksum and its line in an export follow from that. The package reads no database and no file.
package record

import (
	"fmt"

	"waybill/store"
)

// A mode is the purpose of a walk over the fields of a record.
type mode uint8

const (
	naming  mode = iota // list the names
	reading             // read the values of a record
	setting             // set the fields of a record to values
)

// Fields walks over the fields of a record. A value is an int64, a string, a []byte, or nil for a field that the record does
// not have in its state.
type Fields struct {
	mode   mode
	export bool // for a line of an export, not for a row
	names  []string
	values []any
	next   int // the index of the next value to set
	err    error
}

// list adds a name or a value.
func (f *Fields) list(name string, value any) {
	if f.mode == naming {
		f.names = append(f.names, name)
	} else {
		f.values = append(f.values, value)
	}
}

// take returns the next value to set; ok is false without one.
func take[V any](f *Fields, name string) (v V, ok bool) {
	value := f.values[f.next]
	f.next++
	if value == nil {
		return v, false
	}
	if v, ok = value.(V); !ok {
		f.fail("%s has a %T", name, value)
	}
	return v, ok
}

// fail records why the values are not those of a record; the first reason counts.
func (f *Fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// number is a field that each record has. Setting fails if its type cannot hold the stored value.
func number[N ~int | ~int64 | ~uint8](f *Fields, name string, n *N) { numberIf(f, true, name, n) }

// numberIf is a field that a record has under a condition.
func numberIf[N ~int | ~int64 | ~uint8](f *Fields, has bool, name string, n *N) {
	switch {
	case f.mode == setting:
		v, ok := take[int64](f, name)
		if *n = N(v); ok && int64(*n) != v {
			f.fail("%s cannot be %d", name, v)
		}
	case has:
		f.list(name, int64(*n))
	default:
		f.list(name, nil)
	}
}

func flag(f *Fields, name string, b *bool) {
	var n uint8
	if *b {
		n = 1
	}
	flagIf(f, true, name, b, n)
}

// flagIf is a flag that a record has under a condition. n is 1 if *b is true, and otherwise 0.
func flagIf(f *Fields, has bool, name string, b *bool, n uint8) {
	numberIf(f, has, name, &n)
	if f.mode == setting {
		*b = n != 0
	}
}

// text is a field that each record has.
func text[S ~string](f *Fields, name string, s *S) { textIf(f, true, name, s) }

// textIf is a field that a record has under a condition.
func textIf[S ~string](f *Fields, has bool, name string, s *S) {
	switch {
	case f.mode == setting:
		v, _ := take[string](f, name)
		*s = S(v)
	case has:
		f.list(name, string(*s))
	default:
		f.list(name, nil)
	}
}

// coded is a field whose value is a text in the store and something else in a record.
func coded[V any](f *Fields, name string, v *V, format func(V) string, parse func(string) (V, error)) {
	s := ""
	if f.mode == reading {
		s = format(*v)
	}
	text(f, name, &s)
	if f.mode != setting {
		return
	}
	var err error
	if *v, err = parse(s); err != nil {
		f.fail("%s: %w", name, err)
	}
}

func hash(f *Fields, name string, h *store.Hash) {
	if f.mode != setting {
		f.list(name, h[:])
		return
	}
	if v, _ := take[[]byte](f, name); copy(h[:], v) != len(h) {
		f.fail("%s has %d bytes", name, len(v))
	}
}
