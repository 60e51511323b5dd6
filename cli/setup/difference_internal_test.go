package setup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/hostconfig"
	"waybill/hostconfig/notation"
)

// The difference has no command of its own, so these tests are inside.

func between(before, after string) string {
	return difference(hostconfig.Draft{Before: &before, After: &after, Action: notation.Updated})
}

// A person may show the output to others. Lines of other programs, such as tokens in their entries, are not part of it.
func TestDifferenceShowsNoLineOfOthers(t *testing.T) {
	for name, test := range map[string]struct{ before, after, want string }{
		"lines around": {
			"{\n  \"env\": \"TOKEN\",\n  \"a\": 1\n}\n", "{\n  \"env\": \"TOKEN\",\n  \"a\": 1,\n  \"waybill\": 2\n}\n",
			"@@ -1,4 +1,5 @@\n+  \"waybill\": 2\n",
		},
		"comma behind a secret": {
			"{\n  \"env\": \"TOKEN\"\n}\n", "{\n  \"env\": \"TOKEN\",\n  \"waybill\": 2\n}\n",
			"@@ -1,3 +1,4 @@\n+  \"waybill\": 2\n",
		},
		"all on one line": {
			`{"env":"TOKEN"}`, `{"env":"TOKEN","waybill":2}`,
			"+…,\"waybill\":2…\n",
		},
		"taken from a line": {
			`{"env":"TOKEN","waybill":2}`, `{"env":"TOKEN"}`,
			"-…,\"waybill\":2…\n",
		},
		"changed within a line": {
			"a = \"/old\"\n", "a = \"/new\"\n",
			"@@ -1,1 +1,1 @@\n-a = \"/old\"\n+a = \"/new\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := between(test.before, test.after)
			require.Contains(t, got, test.want)
			require.NotContains(t, got, "TOKEN")
		})
	}
}

func TestDifferenceOfANewFileHasAllOfIt(t *testing.T) {
	text := "{\n  \"a\": 1\n}\n"
	got := difference(hostconfig.Draft{After: &text, Action: notation.Added})
	require.Equal(t, "@@ -0,0 +1,3 @@\n+{\n+  \"a\": 1\n+}\n", got)
	require.Empty(t, difference(hostconfig.Draft{Before: &text, After: &text, Action: notation.Unchanged}))
}

// Of a command line of waybill mcp, the flags that decide about the store are used to ask where it is.
func TestGlobalFlagsAreFoundInArguments(t *testing.T) {
	for args, want := range map[string]string{
		"mcp":                        "",
		"mcp --hooks --http":         "",
		"mcp --workspace /a --hooks": "--workspace /a",
		"mcp --store=/b.db --poll":   "--store=/b.db",
	} {
		require.Equal(t, want, strings.Join(hostconfig.Globals(strings.Split(args, " ")), " "), args)
	}
}
