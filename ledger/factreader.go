package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// factReader reads facts by key and keeps the first error.
type factReader struct {
	values map[string]string
	err    error
}

func newFactReader(facts []Fact) *factReader {
	r := &factReader{values: make(map[string]string, len(facts))}
	for _, f := range facts {
		r.values[f.Key] = f.Value
	}
	return r
}

func (r *factReader) text(key string) string {
	value, ok := r.values[key]
	if !ok && r.err == nil {
		r.err = &FactError{Key: key}
	}
	return value
}

func (r *factReader) number(key string) int {
	value := r.text(key)
	if r.err != nil {
		return 0
	}
	n, err := strconv.Atoi(value)
	r.fail(key, err)
	return n
}

func (r *factReader) json(key string, into any) {
	value := r.text(key)
	if r.err != nil {
		return
	}
	r.fail(key, json.Unmarshal([]byte(value), into))
}

// jsonIfAny reads a fact that may be missing, and reports whether it is there.
func (r *factReader) jsonIfAny(key string, into any) bool {
	_, ok := r.values[key]
	if ok {
		r.json(key, into)
	}
	return ok
}

func (r *factReader) fail(key string, err error) {
	if err != nil && r.err == nil {
		r.err = &FactError{Key: key, Err: err}
	}
}

// list writes an array, which is never null.
func list[T any](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	return compact(values)
}

// compact writes JSON as agents should read it: in one line, and with no
// letter escaped that need not be.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("ledger: encode %T: %v", v, err)) // only our own plain structs come here
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
