// Package lazyregexp holds the regular expressions of package variables. A short command, such as a hook, would otherwise pay for
// the compilation of expressions that it never uses.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// A Regexp returns a regular expression, which it compiles at the first call.
type Regexp func() *regexp.Regexp

// New returns the Regexp of a pattern. A wrong pattern panics at the first use, and in a test at once.
func New(pattern string) Regexp {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	if inTest {
		compiled()
	}
	return compiled
}

// inTest reports whether the program is a test, by the name that the go command chooses.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
