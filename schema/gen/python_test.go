package gen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/gen"
)

func TestPythonHasEveryName(t *testing.T) {
	text := string(gen.Python())
	require.Equal(t, 0, strings.Count(text, `"""`)%2, "a comment that does not end")
	require.NotContains(t, text, `""""""`, "a type without a comment")
	for _, m := range schema.Methods {
		require.Equal(t, !m.Notification, strings.Contains(text, fmt.Sprintf("method: Literal[%q", m.Name)), m.Name)
		require.Equal(t, m.Kind == schema.Change, strings.Contains(text, fmt.Sprintf("        %q,\n", m.Name)), m.Name)
	}
	for _, n := range schema.Notifications {
		require.Contains(t, text, fmt.Sprintf("    method: Literal[%q]\n    params: %s\n", n.Name, n.Params.Name()))
	}
	for _, row := range schema.ErrorTable {
		require.Contains(t, text, fmt.Sprintf("    %q,\n", row.Code))
	}
	for name := range reachable() {
		require.Contains(t, text, "\nclass "+name+"(")
	}
}

// Each name is defined once: a message must not take the name of an object, nor a base that of a type.
func TestPythonDefinesNamesOnce(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(string(gen.Python())) {
		rest, class := strings.CutPrefix(line, "class ")
		name, _, defined := strings.Cut(rest, "(")
		if !class {
			name, _, defined = strings.Cut(line, " = ")
		}
		if !defined || strings.HasPrefix(name, " ") || strings.HasPrefix(name, "#") {
			continue
		}
		require.False(t, seen[name], name)
		seen[name] = true
	}
	require.Greater(t, len(seen), 100)
}
