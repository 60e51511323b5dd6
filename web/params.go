package web

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"waybill/schema"
	"waybill/schema/codec"
)

// This file turns paths, queries and bodies into the params of a method. It does not check the params: the decoder of
// the method does, so that every host gets the same errors.

// An object is a list of JSON members.
type object struct {
	text  []byte
	fault *schema.Error // why a member could not be added
}

// add adds a member. It keeps a duplicate name, which the decoder refuses.
func (o *object) add(name string, value any) {
	key, err := codec.Encode(name)
	if err == nil && len(o.text) > 0 {
		o.text = append(o.text, ',')
	}
	var text []byte
	if err == nil {
		text, err = codec.Encode(value)
	}
	if err != nil {
		o.fault = schema.NewError(schema.InvalidUTF8, "the path, the query or a header is not valid UTF-8")
		return
	}
	o.text = append(append(append(o.text, key...), ':'), text...)
}

// A pathParam is a param of the path.
type pathParam struct{ name, value string }

// paramsOfQuery returns the params of a request without a body: the members of o, the path and the query.
func paramsOfQuery(params reflect.Type, o object, args []pathParam, query string) ([]byte, *schema.Error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, schema.NewError(schema.InvalidParams, "the query of the URL is not name=value&…")
	}
	for _, a := range args {
		o.add(a.name, a.value)
	}
	kinds := kindsOf(params)
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if kinds[name] == reflect.Slice {
			o.add(name, values[name])
			continue
		}
		for _, value := range values[name] {
			o.add(name, typed(kinds[name], value))
		}
	}
	return slices.Concat([]byte("{"), o.text, []byte("}")), o.fault
}

// kindsOf maps the names of the params of a method to their Go kinds.
func kindsOf(params reflect.Type) map[string]reflect.Kind {
	kinds := map[string]reflect.Kind{}
	for _, field := range reflect.VisibleFields(params) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		t := field.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		kinds[name] = t.Kind()
	}
	return kinds
}

// typed converts a word of a query to the kind. A word that does not fit stays a string, which the decoder refuses.
func typed(kind reflect.Kind, word string) any {
	switch {
	case kind == reflect.Int || kind == reflect.Int64:
		if n, err := strconv.ParseInt(word, 10, 64); err == nil && strconv.FormatInt(n, 10) == word {
			return n
		}
	case kind == reflect.Bool && (word == "true" || word == "false"):
		return word == "true"
	}
	return word
}

// paramsOfBody returns the params of a request with a body: its members and those of more. It returns a body that is no
// JSON unchanged, so that the decoder reports where the error is.
func paramsOfBody(body []byte, more object) ([]byte, *schema.Error) {
	body = bytes.Trim(body, " \t\r\n")
	switch {
	case more.fault != nil:
		return nil, more.fault
	case len(body) == 0:
		body = []byte("{}")
	case tooDeep(body):
		return nil, schema.NewError(schema.NestingTooDeep, "the body is nested more deeply than "+strconv.Itoa(schema.MaxDepth)+" levels").
			With("limit", schema.MaxDepth)
	case !json.Valid(body):
		return body, nil
	case body[0] != '{':
		return nil, schema.NewError(schema.InvalidParams, "the body must be a JSON object")
	}
	if len(more.text) == 0 {
		return body, nil
	}
	members := bytes.TrimRight(body[:len(body)-1], " \t\r\n")
	comma := []byte(",")
	if len(members) == 1 {
		comma = nil
	}
	return slices.Concat(members, comma, more.text, []byte("}")), nil
}

// tooDeep reports whether brackets are nested more than schema.MaxDepth levels.
func tooDeep(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > schema.MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
