package shape

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"waybill/schema"
)

// Rules are the contents of the schema tag of a member. Those for strings hold for each string of a list.
type Rules struct {
	Required bool
	Nonblank bool
	ID       bool
	Object   bool
	Bounded  bool // it has a min or a max
	Min, Max int64
	Enum     []string
	Default  string // meaning of an absent member
	Setting  string // the setting that overrides it
	Alias    string // another accepted name of the member
}

func parseRules(tag string) Rules {
	r := Rules{Min: math.MinInt64, Max: math.MaxInt64}
	for rule := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(rule, "=")
		switch name {
		case "":
		case "required":
			r.Required = true
		case "nonblank":
			r.Nonblank = true
		case "id":
			r.ID = true
		case "object":
			r.Object = true
		case "min":
			r.Min, r.Bounded = mustInt(value), true
		case "max":
			r.Max, r.Bounded = mustInt(value), true
		case "enum":
			r.Enum = strings.Split(value, "|")
		case "default":
			r.Default = value
		case "setting":
			r.Setting = value
		case "alias":
			r.Alias = value
		default:
			panic("schema: there is no rule " + strconv.Quote(rule))
		}
	}
	return r
}

// DefaultDoc describes the meaning of an absent member. It is empty if there is nothing to say.
func (r *Rules) DefaultDoc() string {
	switch {
	case r.Setting != "" && r.Default != "":
		return "default: the setting `" + r.Setting + "`, which is `" + r.Default + "` where it is not set"
	case r.Setting != "":
		return "default: the setting `" + r.Setting + "`"
	case r.Default != "":
		return "default `" + r.Default + "`"
	}
	return ""
}

// FixedDefault returns the value of an absent member. It is empty if there is none or a setting overrides it.
func (r *Rules) FixedDefault() string {
	if r.Setting != "" {
		return ""
	}
	return r.Default
}

func mustInt(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return n
}

// Checked reports whether a value of the right Go type can break a rule.
func (r *Rules) Checked() bool {
	return r.Required || r.Nonblank || r.ID || r.Bounded || r.Enum != nil
}

// OfElements returns the rules for each value of a list or a map.
func (r Rules) OfElements() Rules {
	r.Required = false
	return r
}

// AllowsInt reports whether a number is within the bounds.
func (r *Rules) AllowsInt(n int64) bool { return r.Min <= n && n <= r.Max }

// AllowsText reports whether a string keeps the rules.
func (r *Rules) AllowsText(s string) bool {
	if r.ID && !schema.IsID(s) || r.Nonblank && strings.TrimSpace(s) == "" {
		return false
	}
	return r.Enum == nil || slices.Contains(r.Enum, s)
}

// Wanted describes the allowed values, for a sentence that ends "must be".
func (r *Rules) Wanted(s *Shape) string {
	switch s.Kind {
	case Object, Map, AnyObject:
		return "an object"
	case List:
		return r.wantedList(s)
	case Text:
		return r.wantedText()
	case Integer:
		return r.WantedInt()
	case Boolean:
		return "true or false"
	case Any:
		return "a value"
	case Null:
		return "null"
	}
	panic("schema: a shape without a kind")
}

func (r *Rules) wantedList(s *Shape) string {
	elem := r.OfElements()
	if r.Required {
		return "a list of at least one, each " + elem.Wanted(s.Elem)
	}
	return "a list, each " + elem.Wanted(s.Elem)
}

func (r *Rules) wantedText() string {
	switch {
	case r.Enum != nil:
		return OneOf(r.Enum)
	case r.ID:
		return "an id (1 to 128 of A-Z a-z 0-9 . _ : -)"
	case r.Nonblank:
		return "a string that is not blank"
	case r.Required:
		return "a string that is not empty"
	}
	return "a string"
}

// WantedInt describes the allowed numbers.
func (r *Rules) WantedInt() string {
	switch {
	case r.Min == math.MinInt64 && r.Max == math.MaxInt64:
		return "a whole number"
	case r.Max == math.MaxInt64:
		return fmt.Sprintf("a whole number from %d", r.Min)
	case r.Min == math.MinInt64:
		return fmt.Sprintf("a whole number up to %d", r.Max)
	}
	return fmt.Sprintf("a whole number from %d to %d", r.Min, r.Max)
}

// OneOf describes a choice of names.
func OneOf(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return "one of " + strings.Join(names, ", ")
}
