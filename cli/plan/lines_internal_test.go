package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// The text of a folder begins with a list of its files, and has no line end between a file without one and the
// next: neither shows in a line that is printed.
func TestLinesOfAFolderAreThoseOfItsFiles(t *testing.T) {
	text := plan.JoinFiles([]plan.PlanFile{{Name: "a.md", Text: "\ufeffstatus: a"}, {Name: "b.md"}, {Name: "c.md", Text: "status: c\nlast"}})
	require.Equal(t, "status: a", lineAt(text, strings.Index(text, "status: a")))
	require.Equal(t, "status: c", lineAt(text, strings.Index(text, "status: c")+3))
	require.Equal(t, "last", lineAt(text, len(text)-1))
	require.Empty(t, lineAt(text, 1))

	lines := diagnosedLines(text, []plan.Diagnostic{{Line: 1}, {Source: "gone.md", Line: 1}, {Source: "c.md", Line: 2}})
	require.Equal(t, map[fileLine]string{{"c.md", 2}: "last"}, lines)
}
