package gen

import (
	_ "embed"
	"strings"
)

// commentLines has a line for each wire type: its name, a tab, and its comment in package schema.
//
//go:embed comments.txt
var commentLines string

// typeComments returns the comments of the wire types by their names.
func typeComments() map[string]string {
	comments := map[string]string{}
	for line := range strings.Lines(commentLines) {
		name, comment, _ := strings.Cut(strings.TrimSpace(line), "\t")
		comments[name] = comment
	}
	return comments
}
