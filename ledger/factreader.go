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

// jsonIfAny reads a fact that may be missing.
func (r *factReader) jsonIfAny(key string, into any) {
	if _, ok := r.values[key]; ok {
		r.json(key, into)
	}
}

func (r *factReader) fail(key string, err error) {
	if err != nil && r.err == nil {
		r.err = &FactError{Key: key, Err: err}
	}
}

// FactError says that a stored fact is missing or cannot be read.
type FactError struct {
	Key string
	// Err is the decoding error, nil when the fact is missing.
	Err error
}

// Code returns the code of the error on the wire.
func (e *FactError) Code() string { return "progress_ledger_incomplete" }

// Error names the key.
func (e *FactError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("ledger fact %s is missing", e.Key)
	}
	return fmt.Sprintf("ledger fact %s is corrupt: %v", e.Key, e.Err)
}

// Unwrap returns the decoding error.
func (e *FactError) Unwrap() error { return e.Err }

// EncodeList returns a list as a JSON array; nil becomes [].
func EncodeList[T any](values []T) string {
	if len(values) == 0 {
		return "[]"
	}
	return Encode(values)
}

// DecodeList returns the entries of a list written by EncodeList.
func DecodeList(value string) (entries []string) {
	if err := json.Unmarshal([]byte(value), &entries); err != nil {
		panic(fmt.Sprintf("ledger: decode our own list: %v", err))
	}
	return entries
}

// Encode returns v as JSON on one line. It escapes only what JSON requires, so that agents can read it.
func Encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("ledger: encode %T: %v", v, err)) // v is always a plain struct of waybill
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
