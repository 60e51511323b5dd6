package codec

import (
	"slices"
	"strconv"
	"strings"

	"waybill/internal/nearest"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/schema/shape"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of the parts of params that an error repeats. Params may be as large as a message.
const (
	maxProblems = 20
	maxExcerpt  = 48
	maxPointer  = 256
)

// A walk collects the problems of well-formed params.
type walk struct {
	found   []finding
	omitted int
}

// A finding is a problem with its part of the error.
type finding struct {
	schema.Problem
	code  schema.Code
	field string   // of UNKNOWN_FIELD: the name
	near  []string // of UNKNOWN_FIELD: the nearest that are known
}

// add adds a finding. Beyond the first ones it only counts, because a message can contain a million problems.
func (w *walk) add(at jsontext.Pointer, describe func() finding) {
	if len(w.found) == maxProblems {
		w.omitted++
		return
	}
	f := describe()
	f.Pointer = safetext.Truncate(string(at), maxPointer)
	w.found = append(w.found, f)
}

// wrong adds that a value is not of the wanted kind.
func (w *walk) wrong(at jsontext.Pointer, v jsontext.Value, wanted string) {
	w.add(at, func() finding {
		return finding{code: schema.InvalidParams, Problem: schema.Problem{
			Message: place(at) + " must be " + wanted + ", not " + shown(v), Expected: wanted, Found: shown(v),
		}}
	})
}

// missing adds that a required member is absent.
func (w *walk) missing(at jsontext.Pointer, wanted string) {
	w.add(at, func() finding {
		return finding{code: schema.InvalidParams, Problem: schema.Problem{
			Message: place(at) + " is missing; it must be " + wanted, Expected: wanted, Found: "nothing",
		}}
	})
}

// blank adds that a text is blank.
func (w *walk) blank(at jsontext.Pointer, v jsontext.Value, wanted string) {
	w.add(at, func() finding {
		return finding{code: schema.EmptyContent, Problem: schema.Problem{
			Message: place(at) + " must be " + wanted, Expected: wanted, Found: shown(v),
		}}
	})
}

// zero adds that a string contains U+0000, which not every store can keep.
func (w *walk) zero(at jsontext.Pointer) {
	w.add(at, func() finding {
		return finding{code: schema.InvalidParams, Problem: schema.Problem{
			Message:  place(at) + " must not contain the character U+0000",
			Expected: "a string without U+0000", Found: "U+0000",
		}}
	})
}

// unknown adds that a member is not declared.
func (w *walk) unknown(at jsontext.Pointer, name string, s *shape.Shape) {
	w.add(at, func() finding {
		near := nearest.Names(name, s.Names)
		field := safetext.Truncate(name, maxExcerpt)
		return finding{code: schema.UnknownField, field: field, near: near, Problem: schema.Problem{
			Message: place(at) + " is not known; " + advice(near, s.Names), Expected: shape.OneOf(s.Names), Found: safetext.Printable(field),
		}}
	})
}

// advice returns a sentence about the names to use instead.
func advice(near, known []string) string {
	switch {
	case len(known) == 0:
		return "there are no params"
	case len(near) == 0:
		return "known here: " + strings.Join(known, ", ")
	}
	return `did you mean "` + strings.Join(near, `" or "`) + `"?`
}

// error returns one error for all findings.
func (w *walk) error() *schema.Error {
	first := w.found[0]
	problems := make([]schema.Problem, len(w.found))
	for i, f := range w.found {
		problems[i] = f.Problem
		if slices.Index(gravity, f.code) > slices.Index(gravity, first.code) {
			first = f
		}
	}
	message := first.Message
	if more := len(problems) - 1; more > 0 {
		message += " (" + strconv.Itoa(more) + " more in details.errors)"
	}
	e := schema.NewError(first.code, message).With("errors", problems)
	if first.code == schema.UnknownField {
		e = e.With("field", first.field).With("pointer", first.Pointer)
	}
	if len(first.near) > 0 {
		e = e.With("did_you_mean", first.near)
	}
	if w.omitted > 0 {
		e = e.With("omitted", w.omitted)
	}
	return e
}

// gravity orders the codes by weight. An unknown member weighs most, because a misspelt name usually explains the
// missing one.
var gravity = []schema.Code{schema.EmptyContent, schema.InvalidParams, schema.UnknownField}

// place returns the name of a place for a message.
func place(at jsontext.Pointer) string {
	if at == "" {
		return "params"
	}
	return safetext.Printable(safetext.Truncate(string(at), maxPointer))
}

// shown returns the beginning of a value for a message, or the kind of an object or list.
func shown(v jsontext.Value) string {
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		for range elements(v) {
			return "a list"
		}
		return "an empty list"
	default:
		return safetext.Printable(safetext.Truncate(string(v), maxExcerpt))
	}
}
