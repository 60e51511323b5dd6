package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Export returns a record as one object of JSON. It has the fields in their order, without those that the record does not
// have in its state.
func (k *Kind[R]) Export(r *R) []byte {
	f := Fields{export: true}
	k.fields(&f, r)
	f.mode = reading
	k.fields(&f, r)
	out := []byte("{")
	for i, v := range f.values {
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), f.names[i]...), `":`...)
		out = appendJSON(out, v)
	}
	return append(out, '}')
}

func appendJSON(out []byte, value any) []byte {
	switch v := value.(type) {
	case []byte:
		return append(hex.AppendEncode(append(out, '"'), v), '"')
	case string:
		if !utf8.ValidString(v) { // no text of JSON can hold it
			value = base64{[]byte(v)}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // a number, a text or bytes
	return append(out, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

// base64 is a text that is not UTF-8.
type base64 struct {
	Base64 []byte `json:"base64"`
}

var errUnlikeWaybill = errors.New("it is not written as waybill writes it, or has fields that none in its state has")

// Import reads an object of Export. It refuses any other object.
func (k *Kind[R]) Import(object []byte, r *R) error {
	f := Fields{export: true}
	k.fields(&f, new(R))
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil {
		return err
	}
	for name := range given {
		if !slices.Contains(f.names, name) {
			return fmt.Errorf("unknown field %q", name)
		}
	}
	for _, name := range f.names {
		v, err := valueOf(given[name], strings.HasSuffix(name, "hash"))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f.values = append(f.values, v)
	}
	f.mode = setting
	if k.fields(&f, r); f.err != nil {
		return f.err
	}
	if !bytes.Equal(k.Export(r), object) {
		return errUnlikeWaybill
	}
	return nil
}

// valueOf reads one value; none is nil.
func valueOf(raw json.RawMessage, digits bool) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		if err != nil || !digits {
			return s, err
		}
		return hex.DecodeString(s)
	case '{':
		var b base64
		err := json.Unmarshal(raw, &b)
		return string(b.Base64), err
	}
	var n int64
	err := json.Unmarshal(raw, &n)
	return n, err
}
