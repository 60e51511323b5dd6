package schema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// idPattern is the form of an id; IsID is the same check in Go.
const (
	idPattern = `^[A-Za-z0-9._:-]{1,128}$`
	maxID     = 128
)

// rules are the contents of the schema tag of a member. Those for strings hold for each string of a list.
type rules struct {
	required bool
	nonblank bool
	id       bool
	object   bool
	bounded  bool
	min, max int64
	enum     []string
	standard string // meaning of an absent member
	setting  string // the setting that overrides it
	alias    string // another accepted name of the member
}

func parseRules(tag string) rules {
	r := rules{min: math.MinInt64, max: math.MaxInt64}
	for rule := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(rule, "=")
		switch name {
		case "":
		case "required":
			r.required = true
		case "nonblank":
			r.nonblank = true
		case "id":
			r.id = true
		case "object":
			r.object = true
		case "min":
			r.min, r.bounded = mustInt(value), true
		case "max":
			r.max, r.bounded = mustInt(value), true
		case "enum":
			r.enum = strings.Split(value, "|")
		case "default":
			r.standard = value
		case "setting":
			r.setting = value
		case "alias":
			r.alias = value
		default:
			panic("schema: there is no rule " + strconv.Quote(rule))
		}
	}
	return r
}

// usual describes the meaning of an absent member, "" if there is nothing to say.
func (r *rules) usual() string {
	switch {
	case r.setting != "" && r.standard != "":
		return "default: the setting `" + r.setting + "`, which is `" + r.standard + "` where it is not set"
	case r.setting != "":
		return "default: the setting `" + r.setting + "`"
	case r.standard != "":
		return "default `" + r.standard + "`"
	}
	return ""
}

// fixed returns the value of an absent member, "" if there is none or a setting overrides it.
func (r *rules) fixed() string {
	if r.setting != "" {
		return ""
	}
	return r.standard
}

func mustInt(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return n
}

// checked reports whether a value of the right Go type can break a rule.
func (r *rules) checked() bool {
	return r.required || r.nonblank || r.id || r.bounded || r.enum != nil
}

// ofElements returns the rules for each value of a list or a map.
func (r rules) ofElements() rules {
	r.required = false
	return r
}

func (r *rules) allowsInt(n int64) bool { return r.min <= n && n <= r.max }

func (r *rules) allowsText(s string) bool {
	if r.id && !IsID(s) || r.nonblank && blank(s) {
		return false
	}
	return r.enum == nil || slices.Contains(r.enum, s)
}

// IsID reports whether a text can be an id: 1 to 128 of A-Z a-z 0-9 . _ : and -.
func IsID(s string) bool {
	if s == "" || len(s) > maxID {
		return false
	}
	for i := range len(s) {
		if !isIDByte(s[i]) {
			return false
		}
	}
	return true
}

func isIDByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == ':' || c == '-'
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// wanted describes the allowed values, for a sentence that ends "must be".
func (r *rules) wanted(s *shape) string {
	switch s.kind {
	case object, dict, anyObject:
		return "an object"
	case list:
		return r.wantedList(s)
	case text:
		return r.wantedText()
	case integer:
		return r.wantedInt()
	case boolean:
		return "true or false"
	case anything:
		return "a value"
	case nothing:
		return "null"
	}
	panic("schema: a shape without a kind")
}

func (r *rules) wantedList(s *shape) string {
	elem := r.ofElements()
	if r.required {
		return "a list of at least one, each " + elem.wanted(s.elem)
	}
	return "a list, each " + elem.wanted(s.elem)
}

func (r *rules) wantedText() string {
	switch {
	case r.enum != nil:
		return oneOf(r.enum)
	case r.id:
		return "an id (1 to 128 of A-Z a-z 0-9 . _ : -)"
	case r.nonblank:
		return "a string that is not blank"
	case r.required:
		return "a string that is not empty"
	}
	return "a string"
}

func (r *rules) wantedInt() string {
	switch {
	case r.min == math.MinInt64 && r.max == math.MaxInt64:
		return "a whole number"
	case r.max == math.MaxInt64:
		return fmt.Sprintf("a whole number from %d", r.min)
	case r.min == math.MinInt64:
		return fmt.Sprintf("a whole number up to %d", r.max)
	}
	return fmt.Sprintf("a whole number from %d to %d", r.min, r.max)
}
