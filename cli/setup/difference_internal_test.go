package setup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/hostconfig"
	"waybill/hostconfig/notation"
)

// The difference has no command of its own, so these tests are inside.

// A person may show the output to others. Text of other programs, such as tokens in their entries, is not part of it.
func TestDifferenceShowsNoTextOfOthers(t *testing.T) {
	for name, test := range map[string]struct{ before, after, oldRest, newRest, want string }{
		"lines around": {
			before: "{\n  \"env\": \"TOKEN\",\n  \"a\": 1\n}\n", after: "{\n  \"env\": \"TOKEN\",\n  \"a\": 1,\n  \"waybill\": 2\n}\n",
			newRest: "{\n  \"env\": \"TOKEN\",\n  \"a\": 1\n}\n", want: "@@ -1,4 +1,5 @@\n+  \"waybill\": 2\n",
		},
		"comma behind a secret": {
			before: "{\n  \"env\": \"TOKEN\"\n}\n", after: "{\n  \"env\": \"TOKEN\",\n  \"waybill\": 2\n}\n",
			newRest: "{\n  \"env\": \"TOKEN\"\n}\n", want: "@@ -1,3 +1,4 @@\n+  \"waybill\": 2\n",
		},
		"all on one line": {
			before: `{"env":"TOKEN"}`, after: `{"env":"TOKEN","waybill":2}`, newRest: `{"env":"TOKEN"}`,
			want: "@@ -1,1 +1,1 @@\n+…,\"waybill\":2…\n",
		},
		"two places of one line": { // it showed the whole line
			before: `{"a":{},"env":"TOKEN","b":{}}`, after: `{"a":{"waybill":1},"env":"TOKEN","b":{"waybill":2}}`,
			newRest: `{"a":{},"env":"TOKEN","b":{}}`, want: "@@ -1,1 +1,1 @@\n" + mixed,
		},
		"two changes of one line": {
			before: `{"waybill":"/old","env":"TOKEN","hook":"/old"}`, after: `{"waybill":"/new","env":"TOKEN","hook":"/new"}`,
			oldRest: `{"env":"TOKEN"}`, newRest: `{"env":"TOKEN"}`, want: "@@ -1,1 +1,1 @@\n" + mixed,
		},
		"a change in two lines of others": {
			before: "{\"a\":\"TOKEN\",\"w\":\"/old\",\n\"b\":\"TOKEN\",\"w\":\"/old\"}\n", after: "{\"a\":\"TOKEN\",\"w\":\"/new\",\n\"b\":\"TOKEN\",\"w\":\"/new\"}\n",
			oldRest: "{\"a\":\"TOKEN\",\n\"b\":\"TOKEN\"}\n", newRest: "{\"a\":\"TOKEN\",\n\"b\":\"TOKEN\"}\n", want: "@@ -1,2 +1,2 @@\n" + mixed,
		},
		"parts that cannot be taken out": {
			before: "a = \"TOKEN /old\"\n", after: "a = \"TOKEN /new\"\n", oldRest: "a = \"TOKEN /old\"\n", newRest: "a = \"TOKEN /new\"\n",
			want: "@@ -1,1 +1,1 @@\n" + mixed,
		},
		"taken from a line": {
			before: `{"env":"TOKEN","waybill":2}`, after: `{"env":"TOKEN"}`, oldRest: `{"env":"TOKEN"}`, newRest: `{"env":"TOKEN"}`,
			want: "@@ -1,1 +1,1 @@\n-…,\"waybill\":2…\n",
		},
		"put into braces": {
			before: "{}\n", after: "{\n  \"waybill\": 2\n}\n", newRest: "{}\n", want: "@@ -1,1 +1,3 @@\n+…\n+  \"waybill\": 2\n+…\n",
		},
		"changed within a line of waybill": {
			before: "x = \"TOKEN\"\na = \"/old\"\n", after: "x = \"TOKEN\"\na = \"/new\"\n", oldRest: "x = \"TOKEN\"\n", newRest: "x = \"TOKEN\"\n",
			want: "@@ -1,2 +1,2 @@\n-a = \"/old\"\n+a = \"/new\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.oldRest == "" {
				test.oldRest = test.before // it had nothing of waybill
			}
			got := difference(hostconfig.Draft{
				Before: &test.before, After: &test.after, OldRest: test.oldRest, NewRest: test.newRest, Action: notation.Updated,
			})
			require.Equal(t, test.want, got)
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
