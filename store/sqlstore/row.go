package sqlstore

import "fmt"

// A Row is the current row of a query. The methods read its values from left to right. Err reports the first value of
// an unexpected type.
type Row struct {
	values []any
	next   int
	err    error
}

// NewRow returns a row of that many columns, to be refilled for each row.
func NewRow(columns int) *Row { return &Row{values: make([]any, columns)} }

// Refill returns the values to be filled with the next row.
func (r *Row) Refill() []any {
	r.next, r.err = 0, nil
	return r.values
}

// Err returns an error for the first value of an unexpected type, or nil.
func (r *Row) Err() error { return r.err }

func (r *Row) take() any {
	v := r.values[r.next]
	r.next++
	return v
}

// Integer takes an integer; see Err.
func (r *Row) Integer() int64 {
	v := r.take()
	n, ok := v.(int64)
	if !ok {
		r.fail("integer", v)
	}
	return n
}

// Text takes a text; see Err.
func (r *Row) Text() string {
	v := r.take()
	s, ok := v.(string)
	if !ok {
		r.fail("text", v)
	}
	return s
}

func (r *Row) blob() []byte {
	v := r.take()
	b, ok := v.([]byte)
	if !ok {
		r.fail("blob", v)
	}
	return b
}

func (r *Row) fail(want string, got any) {
	if r.err == nil {
		r.err = fmt.Errorf("column %d has a %T instead of %s", r.next, got, want)
	}
}
