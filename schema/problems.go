package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// What an error repeats of its params is bounded, because they may be as large as a message.
const (
	maxProblems = 20
	maxExcerpt  = 48
	maxPointer  = 256
)

// A walk gathers what is wrong with well-formed params.
type walk struct {
	found   []finding
	omitted int
}

// A finding is a problem with what the error is to make of it.
type finding struct {
	Problem
	code  Code
	field string   // of UNKNOWN_FIELD: the name
	near  []string // of UNKNOWN_FIELD: the nearest that are known
}

// add takes one more finding. The first ones are enough to go on with, and a message has room for a
// million of them; so the rest is only counted, and not even described.
func (w *walk) add(at jsontext.Pointer, describe func() finding) {
	if len(w.found) == maxProblems {
		w.omitted++
		return
	}
	f := describe()
	f.Pointer = clip(string(at), maxPointer)
	w.found = append(w.found, f)
}

// wrong adds that a value is not what it must be.
func (w *walk) wrong(at jsontext.Pointer, v jsontext.Value, wanted string) {
	w.add(at, func() finding {
		return finding{code: InvalidParams, Problem: Problem{
			Message: place(at) + " must be " + wanted + ", not " + excerpt(v), Expected: wanted, Found: excerpt(v),
		}}
	})
}

// missing adds that a member that must be there is not.
func (w *walk) missing(at jsontext.Pointer, wanted string) {
	w.add(at, func() finding {
		return finding{code: InvalidParams, Problem: Problem{
			Message: place(at) + " is missing; it must be " + wanted, Expected: wanted, Found: "nothing",
		}}
	})
}

// blank adds that a text has nothing in it.
func (w *walk) blank(at jsontext.Pointer, v jsontext.Value, wanted string) {
	w.add(at, func() finding {
		return finding{code: EmptyContent, Problem: Problem{
			Message: place(at) + " must be " + wanted, Expected: wanted, Found: excerpt(v),
		}}
	})
}

// zero adds that a string has the one character that not every store can keep.
func (w *walk) zero(at jsontext.Pointer) {
	w.add(at, func() finding {
		return finding{code: InvalidParams, Problem: Problem{
			Message:  place(at) + " must not contain the character U+0000",
			Expected: "a string without U+0000", Found: "U+0000",
		}}
	})
}

// unknown adds that a member is not declared.
func (w *walk) unknown(at jsontext.Pointer, name string, s *shape) {
	w.add(at, func() finding {
		near := Nearest(name, s.names)
		field := clip(name, maxExcerpt)
		return finding{code: UnknownField, field: field, near: near, Problem: Problem{
			Message: place(at) + " is not known; " + advice(near, s.names), Expected: oneOf(s.names), Found: visible(field),
		}}
	})
}

// advice says which name to use instead.
func advice(near, known []string) string {
	switch {
	case len(known) == 0:
		return "there are no params"
	case len(near) == 0:
		return "known here: " + strings.Join(known, ", ")
	}
	return `did you mean "` + strings.Join(near, `" or "`) + `"?`
}

func oneOf(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return "one of " + strings.Join(names, ", ")
}

// error puts the findings into one error.
func (w *walk) error() *Error {
	first := w.found[0]
	problems := make([]Problem, len(w.found))
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
	e := NewError(first.code, message).With("errors", problems)
	if first.code == UnknownField {
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

// gravity orders the codes of findings. An unknown member weighs most, because a misspelt name is
// mostly why another one is missing.
var gravity = []Code{EmptyContent, InvalidParams, UnknownField}

// place names a place in a message.
func place(at jsontext.Pointer) string {
	if at == "" {
		return "params"
	}
	return visible(clip(string(at), maxPointer))
}

// excerpt shows a value, or what it is if it has parts.
func excerpt(v jsontext.Value) string {
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		for range elements(v) {
			return "a list"
		}
		return "an empty list"
	default:
		return visible(clip(string(v), maxExcerpt))
	}
}

func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// visible takes out what a terminal would act upon, because messages are there to be printed.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
