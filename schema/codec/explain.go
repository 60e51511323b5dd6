package codec

import (
	"errors"
	"reflect"
	"strconv"

	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// explain looks at the params value by value and lists all problems. If there are none, it decodes them without their
// open members.
func explain(s *shape.Shape, raw []byte, dst reflect.Value) *schema.Error {
	if err := syntax(raw); err != nil {
		return err
	}
	var w walk
	params, at := unwrap(raw)
	if params == nil {
		w.wrong("", trim(raw), "an object")
		return w.error()
	}
	w.object(at, params, s, true)
	if len(w.found) > 0 {
		return w.error()
	}
	dst.SetZero()
	if err := json.Unmarshal(params, dst.Addr().Interface(), open); err != nil {
		return schema.NewError(schema.InvalidParams, "params cannot be read: "+err.Error())
	}
	return nil
}

// syntax returns the error for malformed JSON.
func syntax(raw []byte) *schema.Error {
	if len(trim(raw)) == 0 {
		return nil
	}
	var v jsontext.Value
	err := json.Unmarshal(raw, &v)
	if err == nil {
		return nil
	}
	code, what := schema.InvalidUTF8, "params are not valid UTF-8, or have half of a surrogate pair"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		code, what = schema.DuplicateKey, "params have a member twice"
	case json.Unmarshal(raw, &v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil:
		code, what = schema.ParseError, "params are not JSON"
	}
	found, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return schema.NewError(code, what)
	}
	what += ", at byte " + strconv.FormatInt(found.ByteOffset, 10)
	pointer := safetext.Truncate(string(found.JSONPointer), maxPointer)
	if pointer != "" {
		what += " (" + pointer + ")"
	}
	return schema.NewError(code, what).With("pointer", pointer).With("offset", found.ByteOffset)
}
