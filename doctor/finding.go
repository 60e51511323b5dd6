package doctor

import (
	"fmt"
	"io"
	"reflect"
)

// A Level is the outcome of a check.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Warn    Level = "warn"    // it works, but not as intended
	Fail    Level = "fail"    // it cannot be used, or has wrong content
	Skipped Level = "skipped" // there was nothing to check, or no way to
)

// A Finding is one result of a check.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`         // the finding, one sentence
	Fix   string `json:"fix,omitzero"` // remedy

	bare string
}

// Bare returns the sentence with only waybill's own words and numbers: no path, no name, no error, and no text of a
// person or an agent.
func (f Finding) Bare() string { return f.bare }

// A Known is a word that may leave this machine: it comes from a list in this program or is its version.
type Known string

// Find returns a finding with a formatted sentence.
func Find(check string, level Level, fix, format string, args ...any) Finding {
	return Finding{
		Check: check, Level: level, Fix: fix,
		Text: fmt.Sprintf(format, args...), bare: fmt.Sprintf(format, bared(args)...),
	}
}

// bared replaces everything but numbers, booleans and Known words with a dot.
func bared(args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = arg
		if !allowed(arg) {
			safe[i] = hidden{}
		}
	}
	return safe
}

func allowed(arg any) bool {
	switch arg.(type) {
	case Known, Level:
		return true
	case error:
		return false // a formatter may write more than a number
	}
	kind := reflect.ValueOf(arg).Kind()
	return kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Float64
}

// hidden prints as a dot in every format.
type hidden struct{}

// Format writes the dot.
func (hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "…") }

// many returns a count with its noun.
func many[N int | int64](n N, word string) Known {
	if n != 1 {
		word += "s"
	}
	return Known(fmt.Sprintf("%d %s", n, word))
}
