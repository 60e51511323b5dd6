package instruction

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"waybill/core/shellcmd"
	"waybill/internal/glob"
)

// The operators of a rule. Each stands alone in an object in the place of a value, as in {"$contains": "PASS"}.
const (
	opContains = "$contains" // a text that has the given text in it
	opGlob     = "$glob"     // a text that fits the pattern as a whole; see glob.Compile
	opAny      = "$any"      // one of the given values or operators
	opCommand  = "$command"  // a command line, or a list of a program and its arguments, that runs the command; see shellcmd
)

// An OperatorMatch says which operator of a rule matched which text of an event.
type OperatorMatch struct {
	Path     string // as the rule spells it
	Operator string // of an alternative in $any, the operator of the alternative, or $any for a plain value
	// Text is the text that matched: of $command the simple command in the line, of a plain value its JSON.
	Text string
}

// A want is what a rule wants of a value: either it equals a plain value, or the test of an operator holds.
type want struct {
	operator string // "" for a plain value
	plain    any
	test     func(v any) (text string, ok bool) // nil for a plain value and for $any
	any      []want
}

const (
	// maxAlternatives bounds the values of $any.
	maxAlternatives = 64
	// maxGlobText is the largest text in bytes that $glob can match. The time of a match grows with it.
	maxGlobText = 1 << 12
)

// parseWant reads the value of a path of a rule.
func parseWant(value any) (want, error) {
	name, operand, ok := operator(value)
	if !ok {
		return want{plain: value}, refuseInner(value)
	}
	w := want{operator: name}
	var err error
	if name == opAny {
		w.any, err = parseAlternatives(operand)
	} else {
		w.test, err = parseTest(name, operand)
	}
	if err != nil {
		return want{}, fmt.Errorf("%s %w", name, err)
	}
	return w, nil
}

// operator returns the operator in an object that has only one. Another object with a member that begins with $ is an
// operator without a name.
func operator(value any) (name string, operand any, ok bool) {
	object, isObject := value.(map[string]any)
	if !isObject {
		return "", nil, false
	}
	for member, operand := range object {
		if strings.HasPrefix(member, "$") {
			if len(object) > 1 {
				return strings.Join(slices.Sorted(maps.Keys(object)), " with "), nil, true
			}
			return member, operand, true
		}
	}
	return "", nil, false
}

// refuseInner refuses an operator inside a plain value, which would be compared as it is and never match.
func refuseInner(value any) error {
	var inner []any
	switch value := value.(type) {
	case map[string]any:
		inner = slices.Collect(maps.Values(value))
	case []any:
		inner = value
	}
	for _, v := range inner {
		if name, _, ok := operator(v); ok && slices.Contains([]string{opContains, opGlob, opAny, opCommand}, name) {
			return fmt.Errorf("has %s inside a plain value; name the whole path of the member that it is for", name)
		}
		if err := refuseInner(v); err != nil {
			return err
		}
	}
	return nil
}

func parseAlternatives(operand any) ([]want, error) {
	values, ok := operand.([]any)
	switch {
	case !ok || len(values) == 0:
		return nil, errors.New("takes a list of values, at least one")
	case len(values) > maxAlternatives:
		return nil, fmt.Errorf("has %d values; at most %d are allowed", len(values), maxAlternatives)
	}
	wants := make([]want, len(values))
	for i, value := range values {
		w, err := parseWant(value)
		if err == nil && w.any != nil {
			err = errors.New("is $any again; write its values into the one list")
		}
		if err != nil {
			return nil, fmt.Errorf("value %d %w", i+1, err)
		}
		wants[i] = w
	}
	return wants, nil
}

// parseTest reads an operator whose operand is a text.
func parseTest(name string, operand any) (func(any) (string, bool), error) {
	text, ok := operand.(string)
	switch name {
	case opContains, opGlob, opCommand:
		if !ok || text == "" {
			return nil, errors.New("takes a text that is not empty")
		}
	}
	switch name {
	case opContains:
		return onText(func(got string) bool { return strings.Contains(got, text) }), nil
	case opGlob:
		pattern, err := glob.Compile(text)
		if err != nil {
			return nil, err
		}
		return onText(func(got string) bool { return len(got) <= maxGlobText && pattern.MatchString(got) }), nil
	case opCommand:
		command, err := shellcmd.Parse(text)
		if err != nil {
			return nil, err
		}
		return onCommand(command), nil
	}
	return nil, errors.New("is no operator; there are $contains, $glob, $any and $command, each alone in its object. " +
		"To compare a member whose name begins with $, write its path")
}

func onText(holds func(string) bool) func(any) (string, bool) {
	return func(v any) (string, bool) {
		text, ok := v.(string)
		return text, ok && holds(text)
	}
}

func onCommand(command shellcmd.Command) func(any) (string, bool) {
	return func(v any) (string, bool) {
		switch v := v.(type) {
		case string:
			return command.FindIn(v)
		case []any:
			args := make([]string, len(v))
			for i, arg := range v {
				text, ok := arg.(string)
				if !ok {
					return "", false
				}
				args[i] = text
			}
			return command.FindInArgs(args)
		}
		return "", false
	}
}

// holds reports whether a value is as wanted, and of an operator which one matched what.
func (w want) holds(v any) (OperatorMatch, bool) {
	switch {
	case w.any != nil:
		for _, alternative := range w.any {
			if match, ok := alternative.holds(v); ok {
				if match.Operator == "" {
					match = OperatorMatch{Operator: opAny, Text: plainText(v)}
				}
				return match, true
			}
		}
		return OperatorMatch{}, false
	case w.test != nil:
		text, ok := w.test(v)
		return OperatorMatch{Operator: w.operator, Text: text}, ok
	default:
		return OperatorMatch{}, same(v, w.plain)
	}
}

func plainText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("instruction: a decoded JSON value cannot be encoded: " + err.Error())
	}
	return string(text)
}
