package lex

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/plan"
)

// JSON is a JSON value in a text: Text[From:To]. The text is validated once, and then read in place.
type JSON struct {
	Text     string
	From, To int
}

var errTrailing = errors.New("more text follows")

// CheckJSON returns the offset at which a text stops being one JSON value, or several ones, and why. The error is nil
// for valid JSON. One value may have duplicate names in its objects, which its reader reports.
func CheckJSON(text string, several bool) (offset int, err error) {
	text = strings.TrimRight(text, " \t\r\n")
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(!several))
	for err == nil && int(d.InputOffset()) < len(text) {
		if d.InputOffset() > 0 && !several {
			err = errTrailing
			break
		}
		err = d.SkipValue()
	}
	offset = int(d.InputOffset())
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, err = int(syntax.ByteOffset), syntax.Err
	}
	offset = min(offset, len(text))
	return len(text) - len(strings.TrimLeft(text[offset:], " \t\r\n")), err
}

// Raw returns the text of the value.
func (v *JSON) Raw() string { return v.Text[v.From:v.To] }

// Is reports whether the value begins with a byte: { for an object, [ for a list.
func (v *JSON) Is(begin byte) bool { return v.From < v.To && v.Text[v.From] == begin }

// Word returns a decoded string, or a number as written, or "" for any other value.
func (v *JSON) Word() string {
	switch raw := v.Raw(); {
	case v.Is('"') && strings.IndexByte(raw, '\\') < 0:
		return raw[1 : len(raw)-1]
	case v.Is('"'):
		if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
			return string(text)
		}
	case raw != "" && (raw[0] == '-' || IsDigit(raw[0])):
		return raw
	}
	return ""
}

// Words returns the words of a list, or a single word as a list.
func (v *JSON) Words() (all []string) {
	add := func(one JSON) {
		if word := Trim(one.Word()); word != "" {
			all = append(all, word)
		}
	}
	if v.Elements(add); !v.Is('[') {
		add(*v)
	}
	return all
}

// Mark returns the position of a string without its quotes, or nothing for a string with escapes.
func (v *JSON) Mark() plan.Span {
	if raw := v.Raw(); !v.Is('"') || len(raw) < 3 || strings.IndexByte(raw, '\\') >= 0 {
		return plan.Span{}
	}
	return plan.Span{Start: v.From + 1, End: v.To - 1}
}

// Values calls fn for each value of a text that consists of JSON values.
func (v *JSON) Values(fn func(value JSON)) {
	for at := v.space(v.From); at < v.To; {
		end := v.skip(at)
		fn(JSON{v.Text, at, end})
		at = v.space(end)
	}
}

// Elements calls fn for each element of a list, and none for another value.
func (v *JSON) Elements(fn func(element JSON)) {
	if v.Is('[') {
		inside := JSON{v.Text, v.From + 1, v.To - 1}
		inside.Values(fn)
	}
}

// Members calls fn for each member of an object, and none for another value.
func (v *JSON) Members(fn func(name, member JSON)) {
	if !v.Is('{') {
		return
	}
	var name JSON
	inside := JSON{v.Text, v.From + 1, v.To - 1}
	inside.Values(func(value JSON) {
		if name.To == 0 {
			name = value
			return
		}
		fn(name, value)
		name = JSON{}
	})
}

// space returns the offset of the next token.
func (v *JSON) space(at int) int {
	for at < v.To && (v.Text[at] <= ' ' || v.Text[at] == ',' || v.Text[at] == ':') {
		at++
	}
	return at
}

// skip returns the offset after the value at an offset.
func (v *JSON) skip(at int) int {
	for depth := 0; ; {
		switch v.Text[at] {
		case '"':
			at = closing(v.Text, at)
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			depth--
			at++
		case ' ', '\t', '\r', '\n', ',', ':':
			at++
			continue
		default:
			for at < v.To && strings.IndexByte(" \t\r\n,:]}", v.Text[at]) < 0 {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
}

// closing returns the offset after the JSON string at an offset.
func closing(text string, at int) int {
	for at++; ; at++ {
		at += strings.IndexByte(text[at:], '"')
		slashes := at - len(strings.TrimRight(text[:at], `\`))
		if slashes%2 == 0 {
			return at + 1
		}
	}
}
