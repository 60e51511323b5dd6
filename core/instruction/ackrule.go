package instruction

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// An AckRule selects the events that confirm an instruction: events of the type whose data has the value of Match at
// each path. The zero rule matches nothing.
type AckRule struct {
	EventType string
	// Match is a JSON object from path to value, or "" for any data. A path is dotted
	// ("result.exit_code", list positions as numbers from 0) or a JSON Pointer ("/a.b").
	// Values are compared as JSON: numbers by value, objects without order, types never mixed.
	Match string
}

// NewAckRule checks a rule. The match must be empty, an empty object, null, or a JSON object whose
// keys are paths; the first three mean any data. The rule has the match without its white space.
func NewAckRule(eventType, match string) (AckRule, error) {
	if eventType == "" {
		return AckRule{}, errors.New("event_type is empty")
	}
	if match == "" {
		return AckRule{EventType: eventType}, nil
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal([]byte(match), &want); err != nil {
		return AckRule{}, fmt.Errorf("match is not an object from path to value: %w", err)
	}
	for path := range want {
		if _, err := steps(path); err != nil {
			return AckRule{}, fmt.Errorf("match path %q: %w", path, err)
		}
	}
	if len(want) == 0 {
		return AckRule{EventType: eventType}, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(match)); err != nil {
		return AckRule{}, fmt.Errorf("match is not an object from path to value: %w", err)
	}
	return AckRule{EventType: eventType, Match: compact.String()}, nil
}

// Matches reports whether an event of the type confirms. data is a JSON text or "".
func (r AckRule) Matches(eventType, data string) bool {
	if r.EventType == "" || r.EventType != eventType {
		return false
	}
	if r.Match == "" {
		return true
	}
	got, err := decode(data)
	if err != nil {
		return false
	}
	match, err := decode(r.Match)
	if err != nil {
		return false
	}
	return holds(match, got)
}

// holds reports whether every path of match, an object, leads to its value in got.
func holds(match, got any) bool {
	want, ok := match.(map[string]any)
	if !ok {
		return false
	}
	for path, value := range want {
		way, err := steps(path)
		if err != nil {
			return false
		}
		found, ok := walk(got, way)
		if !ok || !same(found, value) {
			return false
		}
	}
	return true
}

// decode reads a JSON text and nothing after it. Numbers keep their spelling, so that none is rounded.
func decode(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if rest := strings.TrimLeft(text[dec.InputOffset():], " \t\r\n"); rest != "" {
		return nil, errors.New("something follows the JSON value")
	}
	return v, nil
}

// steps splits a path into its members. It refuses likely mistakes, because a rule with a wrong path would never
// match and nothing would tell.
func steps(path string) ([]string, error) {
	if path == "" {
		return nil, errors.New("is empty; name a member, as in result.exit_code")
	}
	if !strings.HasPrefix(path, "/") {
		return dotted(path)
	}
	way := strings.Split(path[1:], "/")
	for i, s := range way {
		bare := strings.NewReplacer("~1", "", "~0", "").Replace(s)
		if strings.Contains(bare, "~") {
			return nil, errors.New("in a JSON Pointer, ~ is written ~0 and / is written ~1")
		}
		way[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return way, nil
}

func dotted(path string) ([]string, error) {
	way := strings.Split(path, ".")
	for _, s := range way {
		if s == "" {
			return nil, errors.New("has a member without a name; " +
				"write a name that is empty or has a dot in it as a JSON Pointer, as in /a.b")
		}
	}
	return way, nil
}

func walk(v any, way []string) (any, bool) {
	for _, step := range way {
		switch node := v.(type) {
		case map[string]any:
			child, ok := node[step]
			if !ok {
				return nil, false
			}
			v = child
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) || strconv.Itoa(i) != step {
				return nil, false // "+1" and "01" are names, not positions
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// same compares two decoded JSON values as JSON does: numbers by value, objects without order.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameObject(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && sameList(a, b)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(a.String(), b.String())
	default:
		return a == b
	}
}

func sameObject(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !same(v, w) {
			return false
		}
	}
	return true
}

func sameList(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameNumber compares two JSON numbers by value in linear time. It never writes a number out, so 1e999999999 costs no
// more than 1.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := parseDecimal(a)
	y, okY := parseDecimal(b)
	return okX && okY && x == y
}

// A decimal is a number as ±digits × 10^exponent, with neither leading nor trailing zeros in digits.
// That form is unique, and zero is the zero decimal, so equal numbers compare with ==.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// maxExponent leaves room to shift an exponent by the length of any text. Numbers with a larger one
// are equal only if they are spelled alike.
const maxExponent = 1 << 60

// parseDecimal reads a JSON number.
func parseDecimal(text string) (decimal, bool) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, power, scaled := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shifted := strings.TrimLeft(whole+fraction, "0")
	digits := strings.TrimRight(shifted, "0")
	if digits == "" {
		return decimal{}, true
	}
	exponent := int64(len(shifted)-len(digits)) - int64(len(fraction))
	if scaled {
		n, err := strconv.ParseInt(power, 10, 64)
		if err != nil || n > maxExponent || n < -maxExponent {
			return decimal{}, false
		}
		exponent += n
	}
	return decimal{negative, digits, exponent}, true
}
