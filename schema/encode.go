package schema

import (
	"bytes"

	"github.com/go-json-experiment/json"
)

// compact is how everything is written: maps in the order of their keys, so that the same value is
// always the same bytes. That nil slices are [] and nil maps {}, that HTML is not escaped, and that
// invalid UTF-8 is an error, are the library's own defaults.
var compact = json.Deterministic(true)

// Encode writes a result, an error or a notification as JSON on one line. It refuses strings that are
// not UTF-8, and raw values that are not JSON, instead of sending something else in their place.
func Encode(v any) ([]byte, error) {
	return json.Marshal(v, compact)
}

// AppendEncode is Encode behind the bytes of dst. With an error it gives dst as it was.
func AppendEncode(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := json.MarshalWrite(b, v, compact); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}
