package instruction

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// The largest pattern and the largest text that it can match, in bytes. The time of a match grows with both.
const (
	maxGlob     = 1 << 9
	maxGlobText = 1 << 12
)

// compileGlob translates a pattern for paths: * and ? stand for characters but /, ** for any characters, **/ also for
// nothing, [a-z] and [!a-z] for one character, and \ takes the meaning from the next one. Braces have no meaning. As a
// regular expression without backtracking it takes time in proportion to the text.
func compileGlob(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(pattern), maxGlob)
	}
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	for rest := pattern; rest != ""; {
		part, after, err := globPart(rest)
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, pattern)
		}
		b.WriteString(part)
		rest = after
	}
	return regexp.Compile(b.String() + `)\z`)
}

// globPart translates the first part of a pattern and returns the rest.
func globPart(pattern string) (part, rest string, err error) {
	for _, row := range []struct{ glob, expression string }{
		{"**/", `(?:.*/)?`}, {"**", `.*`}, {"*", `[^/]*`}, {"?", `[^/]`},
	} {
		if rest, ok := strings.CutPrefix(pattern, row.glob); ok {
			return row.expression, rest, nil
		}
	}
	switch pattern[0] {
	case '[':
		return globClass(pattern[1:])
	case '\\':
		pattern = pattern[1:]
		if pattern == "" {
			return "", "", errors.New(`a \ is the last character`)
		}
	}
	for _, first := range pattern {
		size := len(string(first))
		return regexp.QuoteMeta(pattern[:size]), pattern[size:], nil
	}
	panic("unreachable")
}

// globClass translates a class whose opening bracket was read.
func globClass(pattern string) (part, rest string, err error) {
	class, rest, closed := strings.Cut(pattern, "]")
	not := strings.HasPrefix(class, "!") || strings.HasPrefix(class, "^")
	if not {
		class = class[1:]
	}
	if !closed || class == "" {
		return "", "", errors.New("a [ has no ] or nothing before it")
	}
	class = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `&`, `\&`).Replace(class)
	if not {
		class = "^/" + class
	}
	if _, err := regexp.Compile("[" + class + "]"); err != nil {
		return "", "", errors.New("a class has a range that runs backwards")
	}
	return "[" + class + "]", rest, nil
}
