// Package lazyregexp holds the regular expressions of package variables. A short command, such as a hook, would otherwise pay for
// the compilation of expressions that it never uses.
package lazyregexp

import (
	"regexp"
	"sync"
)

// A Regexp is a regular expression that is compiled when it is first needed.
type Regexp struct {
	pattern  string
	once     sync.Once // guards compiled
	compiled *regexp.Regexp
}

// New returns the Regexp of a pattern. The compiler inlines it, so that a package variable costs nothing at the start. A test
// of this package compiles the patterns of all package variables.
func New(pattern string) *Regexp { return &Regexp{pattern: pattern} }

// Compiled returns the compiled expression. It panics for a wrong pattern.
func (r *Regexp) Compiled() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.pattern) })
	return r.compiled
}
