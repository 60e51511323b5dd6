package acp

import (
	"bytes"
	"encoding/json"
)

// The functions here change a part of a message and leave every other byte.

// member returns the value of a member of a JSON object, or nil. The value shares the memory of the object.
func member(object []byte, name string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return nil
		}
		if end := int(decoder.InputOffset()); key == name {
			return object[end-len(value) : end]
		}
	}
	return nil
}

// replaced returns the text with one part of it replaced. The part shares the memory of the text.
func replaced(text, part, with []byte) []byte {
	from := cap(text) - cap(part)
	return concat(text[:from], with, text[from+len(part):])
}

// withFirst returns a JSON array with a new first element.
func withFirst(array, element []byte) []byte { return spliced(array, 1, element) }

// withLast returns a JSON array with a new last element.
func withLast(array, element []byte) []byte { return spliced(array, len(array)-1, element) }

// spliced puts an element behind the first bracket of an array, or in front of the last one.
func spliced(array []byte, at int, element []byte) []byte {
	switch {
	case len(bytes.TrimSpace(array[1:len(array)-1])) == 0:
		return concat(array[:1], element, array[len(array)-1:])
	case at == 1:
		return concat(array[:1], element, []byte(","), array[1:])
	}
	return concat(array[:at], []byte(","), element, array[at:])
}

// withMember returns a JSON object with a new first member.
func withMember(object []byte, name string, value []byte) []byte {
	comma := ","
	if len(bytes.TrimSpace(object[1:len(object)-1])) == 0 {
		comma = ""
	}
	return concat([]byte(`{"`+name+`":`), value, []byte(comma), object[1:])
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// isArray reports whether a JSON value is an array.
func isArray(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// isObject reports whether a JSON value is an object.
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
