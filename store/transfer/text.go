package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// text is a string that JSON returns byte by byte. One that is not UTF-8, which no string of JSON can hold, is
// written as {"base64": "…"}.
type text string

type coded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes the text.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return encode(string(t))
	}
	return json.Marshal(coded{[]byte(t)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *text) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		var c coded
		err := strictly(data, &c)
		*t = text(c.Base64)
		return err
	}
	var s string
	err := json.Unmarshal(data, &s)
	*t = text(s)
	return err
}

// encode writes a value in the one way in which waybill writes it, without an end of line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var errTrailing = errors.New("something stands behind the object")

// strictly reads one object, of which every field must be known.
func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errTrailing
	}
	return nil
}
