package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// more, as a member name or last element, allows any further members or elements.
const more = "..."

// decode returns one JSON value. Numbers keep their spelling.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, reason("not JSON: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, reason("not JSON: there is more behind the first value")
	}
	return v, nil
}

// Pattern returns a pattern: JSON whose texts may have placeholders.
func Pattern(text string) (any, error) {
	pattern, err := decode([]byte(text))
	if err != nil {
		return nil, err
	}
	for _, p := range placeholders(text) {
		if p.kind == "repeat" {
			return nil, reason("%s can be sent, and not expected", p.text)
		}
		if p.name == "" {
			continue
		}
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	return pattern, nil
}

// A matching compares a pattern with a value and records the values of its placeholders.
type matching struct{ bound Bindings }

// Match compares a message with a pattern. If they match, it adds the values of the placeholders to the bindings;
// otherwise it returns an error with the place.
func Match(pattern, message any, b Bindings) error {
	m := matching{maps.Clone(b)}
	if m.bound == nil {
		m.bound = Bindings{}
	}
	if err := m.value("", pattern, message); err != nil {
		return err
	}
	maps.Copy(b, m.bound)
	return nil
}

func (m matching) value(at string, want, got any) error {
	switch want := want.(type) {
	case string:
		return m.text(at, want, got)
	case map[string]any:
		return m.object(at, want, got)
	case []any:
		return m.list(at, want, got)
	}
	if want != got {
		return differs(at, want, got)
	}
	return nil
}

func differs(at string, want, got any) error {
	return reason("%s is %s, want %s", place(at), shown(got), shown(want))
}

func place(at string) string {
	if at == "" {
		return "the message"
	}
	return at
}

// shown returns a value as JSON, cut if it is long.
func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if len(text) > 400 {
		return string(text[:400]) + "…"
	}
	return string(text)
}

// object compares an object. Each member of the pattern must exist; others are allowed only with more.
func (m matching) object(at string, want map[string]any, got any) error {
	object, ok := got.(map[string]any)
	if !ok {
		return differs(at, want, got)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		member, there := object[name]
		switch {
		case name == more:
		case !there:
			return reason("%s is missing", at+"/"+name)
		default:
			if err := m.value(at+"/"+name, want[name], member); err != nil {
				return err
			}
		}
	}
	if _, open := want[more]; open {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, known := want[name]; !known {
			return reason("%s is not expected: %s", at+"/"+name, shown(object[name]))
		}
	}
	return nil
}

func (m matching) list(at string, want []any, got any) error {
	list, ok := got.([]any)
	if !ok {
		return differs(at, want, got)
	}
	open := len(want) > 0 && want[len(want)-1] == more
	if open {
		want = want[:len(want)-1]
	}
	if len(list) < len(want) || (len(list) > len(want) && !open) {
		return reason("%s has %d elements, want %d: %s", place(at), len(list), len(want), shown(list))
	}
	for i := range want {
		if err := m.value(at+"/"+strconv.Itoa(i), want[i], list[i]); err != nil {
			return err
		}
	}
	return nil
}

// text compares with a text of the pattern, with or without placeholders.
func (m matching) text(at, want string, got any) error {
	ps := placeholders(want)
	if len(ps) == 1 && ps[0].text == want {
		return m.whole(at, ps[0], got)
	}
	text, ok := got.(string)
	if !ok || (len(ps) == 0 && text != want) {
		return differs(at, want, got)
	}
	return m.parts(at, want, ps, text)
}

// whole compares with a placeholder for the whole value.
func (m matching) whole(at string, p placeholder, got any) error {
	if bound, ok := m.bound[p.key()]; ok {
		if bound != got {
			return reason("%s is %s, and %s was %s before", place(at), shown(got), p.text, shown(bound))
		}
		return nil
	}
	if !p.accepts(got) {
		return reason("%s is %s, want %s", place(at), shown(got), p.text)
	}
	if p.name != "" {
		m.bound[p.key()] = got
	}
	return nil
}

// accepts reports whether a placeholder can have the value.
func (p placeholder) accepts(got any) bool {
	switch got := got.(type) {
	case string:
		if p.kind == "text" && p.name == "" {
			return true
		}
		return p.kind != "int" && regexp.MustCompile(`(?s)^(?:`+p.form()+`)$`).MatchString(got)
	case json.Number:
		return p.kind == "any" || (p.kind == "int" && !strings.ContainsAny(got.String(), ".eE"))
	}
	return p.kind == "any"
}

// parts compares with a text of words and placeholders.
func (m matching) parts(at, want string, ps []placeholder, got string) error {
	form, rest := "", want
	for _, p := range ps {
		before, after, _ := strings.Cut(rest, p.text)
		form += regexp.QuoteMeta(before) + "(" + m.form(p) + ")"
		rest = after
	}
	found := regexp.MustCompile(`(?s)^` + form + regexp.QuoteMeta(rest) + `$`).FindStringSubmatch(got)
	if found == nil {
		return differs(at, want, got)
	}
	for i, p := range ps {
		if err := m.bind(at, p, found[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// form returns the regular expression for a placeholder in a text: its value, if it is known.
func (m matching) form(p placeholder) string {
	switch v := m.bound[p.key()].(type) {
	case string:
		return regexp.QuoteMeta(v)
	case json.Number:
		return regexp.QuoteMeta(v.String())
	}
	return p.form()
}

// bind records the value of a placeholder in a text. Two values in one text must be equal.
func (m matching) bind(at string, p placeholder, found string) error {
	if p.name == "" {
		return nil
	}
	var value any = found
	if p.kind == "int" {
		value = json.Number(found)
	}
	return m.whole(at, p, value)
}
