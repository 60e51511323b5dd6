package instruction

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An AckRule selects the events that confirm an instruction: events of the type whose data has the value of Match at
// each path. The zero rule matches nothing.
type AckRule struct {
	EventType string
	// Match is a JSON object from path to value, or "" for any data. A path is dotted
	// ("result.exit_code", list positions as numbers from 0) or a JSON Pointer ("/a.b").
	// A value is an operator, such as {"$contains": "PASS"}, or is compared as JSON: numbers by value, objects without
	// order, types never mixed.
	Match string
}

// NewAckRule checks a rule. The match must be empty, an empty object, null, or a JSON object whose
// keys are paths; the first three mean any data. The rule has the match without its white space. A match that no data can
// meet is refused.
func NewAckRule(eventType, match string) (AckRule, error) {
	if eventType == "" {
		return AckRule{}, errors.New("event_type is empty")
	}
	if match == "" {
		return AckRule{EventType: eventType}, nil
	}
	conditions, err := parseMatch(match)
	if err != nil {
		return AckRule{}, err
	}
	if len(conditions) == 0 {
		return AckRule{EventType: eventType}, nil
	}
	if err := refuseExclusive(conditions); err != nil {
		return AckRule{}, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(match)); err != nil {
		return AckRule{}, fmt.Errorf("match is not an object from path to value: %w", err)
	}
	return AckRule{EventType: eventType, Match: compact.String()}, nil
}

// Matches reports whether an event of the type confirms, and what the operators of the rule matched, in the order of
// their paths. data is a JSON text or "".
func (r AckRule) Matches(eventType, data string) ([]OperatorMatch, bool) {
	if r.EventType == "" || r.EventType != eventType {
		return nil, false
	}
	if r.Match == "" {
		return nil, true
	}
	got, err := decode(data)
	if err != nil {
		return nil, false
	}
	conditions, err := parseMatch(r.Match)
	if err != nil {
		return nil, false
	}
	var matches []OperatorMatch
	for _, c := range conditions {
		found, ok := walk(got, c.way)
		if !ok {
			return nil, false
		}
		match, ok := c.want.holds(found)
		if !ok {
			return nil, false
		}
		if match.Operator != "" {
			match.Path = c.path
			matches = append(matches, match)
		}
	}
	return matches, true
}

// A condition is one path of a rule and what it wants there.
type condition struct {
	path string
	way  []string
	want want
}

// parseMatch reads the conditions of a rule in the order of their paths.
func parseMatch(match string) ([]condition, error) {
	value, err := decode(match)
	members, ok := value.(map[string]any)
	if err != nil {
		return nil, fmt.Errorf("match is not an object from path to value: %w", err)
	}
	if !ok && value != nil {
		return nil, errors.New("match is not an object from path to value")
	}
	conditions := make([]condition, 0, len(members))
	for _, path := range slices.Sorted(maps.Keys(members)) {
		way, err := steps(path)
		if err == nil && len(way) > maxSteps {
			err = fmt.Errorf("has %d members; events have at most %d levels", len(way), maxSteps)
		}
		if err != nil {
			return nil, fmt.Errorf("match path %q: %w", path, err)
		}
		want, err := parseWant(members[path])
		if err != nil {
			return nil, fmt.Errorf("the value of match path %q: %w", path, err)
		}
		conditions = append(conditions, condition{path, way, want})
	}
	return conditions, nil
}

// refuseExclusive refuses conditions of which two exclude each other: a plain value at one path, and at the same path or
// below it something that this value does not have.
func refuseExclusive(conditions []condition) error {
	byWay := map[string][]condition{}
	for _, c := range conditions {
		key := pointer(c.way)
		byWay[key] = append(byWay[key], c)
	}
	for _, c := range conditions {
		for n := range len(c.way) + 1 {
			for _, outer := range byWay[pointer(c.way[:n])] {
				if outer.want.operator != "" || outer.path == c.path {
					continue
				}
				value, ok := walk(outer.want.plain, c.way[n:])
				if ok {
					_, ok = c.want.holds(value)
				}
				if !ok {
					return fmt.Errorf("match paths %q and %q exclude each other, so that no event could match", outer.path, c.path)
				}
			}
		}
	}
	return nil
}

// pointer joins the members of a path so that different paths differ.
func pointer(way []string) string {
	var b strings.Builder
	for _, step := range way {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return b.String()
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

// maxSteps bounds the members of a path: a message is at most 128 levels deep.
const maxSteps = 128

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
