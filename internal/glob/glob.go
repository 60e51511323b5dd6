// Package glob matches paths with patterns. Braces and ! have no meaning in its patterns.
package glob

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxPattern is the size of the largest pattern in bytes. The time of a match grows with it.
const maxPattern = 1 << 9

// Compile translates a pattern for paths: * and ? stand for characters but /, ** for any characters, **/ also for
// nothing, [a-z] and [!a-z] for one character, and \ takes the meaning from the next one. As a regular expression without
// backtracking it takes time in proportion to the text.
func Compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(pattern), maxPattern)
	}
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	for rest := pattern; rest != ""; {
		part, after, err := translate(rest)
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, pattern)
		}
		b.WriteString(part)
		rest = after
	}
	return regexp.Compile(b.String() + `)\z`)
}

// translate translates the first part of a pattern and returns the rest.
func translate(pattern string) (part, rest string, err error) {
	for _, row := range []struct{ glob, expression string }{
		{"**/", `(?:.*/)?`}, {"**", `.*`}, {"*", `[^/]*`}, {"?", `[^/]`},
	} {
		if rest, ok := strings.CutPrefix(pattern, row.glob); ok {
			return row.expression, rest, nil
		}
	}
	switch pattern[0] {
	case '[':
		return translateClass(pattern[1:])
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

// translateClass translates a class whose opening bracket was read.
func translateClass(pattern string) (part, rest string, err error) {
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
