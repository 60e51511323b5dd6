package codec_test

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"testing"

	"waybill/schema"

	"github.com/stretchr/testify/require"
)

// valid is a JSON Schema validator, as small as the schemas that are published for params. There is
// one thing that it knows beside them: in an open object, null is the same as absent.
func valid(s map[string]any, v any) bool {
	switch s["type"] {
	case "object":
		object, ok := v.(map[string]any)
		return ok && validObject(s, object)
	case "array":
		list, ok := v.([]any)
		return ok && validArray(s, list)
	case "string":
		text, ok := v.(string)
		return ok && validString(s, text)
	case "integer":
		number, ok := v.(float64)
		return ok && validInteger(s, number)
	case "boolean":
		_, ok := v.(bool)
		return ok
	}
	return true
}

func validObject(s map[string]any, object map[string]any) bool {
	properties, _ := s["properties"].(map[string]any)
	open := properties != nil && s["additionalProperties"] == nil
	required, _ := s["required"].([]any)
	for _, name := range required {
		value, present := object[name.(string)]
		if !present || open && value == nil {
			return false
		}
	}
	for name, value := range object {
		member, declared := properties[name].(map[string]any)
		if !declared {
			member, declared = s["additionalProperties"].(map[string]any)
		}
		switch {
		case open && value == nil:
		case declared && !valid(member, value):
			return false
		case !declared && s["additionalProperties"] == false:
			return false
		}
	}
	return true
}

func validArray(s map[string]any, list []any) bool {
	if minimum, ok := s["minItems"].(float64); ok && len(list) < int(minimum) {
		return false
	}
	for _, item := range list {
		if !valid(s["items"].(map[string]any), item) {
			return false
		}
	}
	return true
}

func validString(s map[string]any, text string) bool {
	if minimum, ok := s["minLength"].(float64); ok && len(text) < int(minimum) {
		return false
	}
	if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(text) {
		return false
	}
	enum, ok := s["enum"].([]any)
	return !ok || slices.Contains(enum, any(text))
}

func validInteger(s map[string]any, number float64) bool {
	if minimum, ok := s["minimum"].(float64); ok && number < minimum {
		return false
	}
	if maximum, ok := s["maximum"].(float64); ok && number > maximum {
		return false
	}
	return number == math.Trunc(number)
}

// A validator that accepts everything would agree with nothing and be of no use.
func TestValidatorKnowsTheKeywordsThatAreUsed(t *testing.T) {
	known := []string{
		"type", "description", "default", "properties", "required", "additionalProperties", "items", "minItems",
		"minLength", "pattern", "enum", "minimum", "maximum",
	}
	var look func(path string, s map[string]any)
	look = func(path string, s map[string]any) {
		for _, keyword := range slices.Sorted(maps.Keys(s)) {
			require.Contains(t, known, keyword, path)
		}
		properties, _ := s["properties"].(map[string]any)
		for name, member := range properties {
			look(path+"/"+name, member.(map[string]any))
		}
		for _, keyword := range []string{"items", "additionalProperties"} {
			if inner, ok := s[keyword].(map[string]any); ok {
				look(path+"/"+keyword, inner)
			}
		}
	}
	for _, m := range schema.Methods {
		look(m.Name, published(t, m))
	}
}
