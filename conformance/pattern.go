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

// more, as the name of a member or as the last element of a list, allows whatever else there is.
const more = "..."

// decode reads one JSON value and keeps numbers as they are written.
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

// Pattern reads a pattern: JSON, whose texts may have placeholders.
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

// A matching compares a pattern with a value and takes down what its placeholders stand for.
type matching struct{ bound Bindings }

// Match compares a message with a pattern. It adds to the bindings what the placeholders stand for, unless the
// message differs; then the error says where, and nothing is added.
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

// shown gives a value as JSON; of a long one the beginning.
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

// object compares an object: each member of the pattern must be there, and no other unless it says so.
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

// text compares with a text of the pattern, which may be or have placeholders.
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

// whole compares with a placeholder that stands for the whole value.
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

// accepts reports whether a placeholder may stand for the value.
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

// parts compares with a text that has placeholders among other words.
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

// form gives the form of a placeholder in a text: its value, where that is known.
func (m matching) form(p placeholder) string {
	switch v := m.bound[p.key()].(type) {
	case string:
		return regexp.QuoteMeta(v)
	case json.Number:
		return regexp.QuoteMeta(v.String())
	}
	return p.form()
}

// bind takes down what was found for a placeholder in a text; twice in one text it must be the same.
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
