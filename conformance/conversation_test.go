package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/conformance"
)

func TestParse(t *testing.T) {
	c, err := conformance.Parse("x", []byte(`# A title
# More.
doors: rpc mcp
framings: line
workspace: none
-- conversation --
# A remark.
> {"id":1,
  "method":"ping"}

>! {
>= \x0a
< {"id":1,"result":"<any>"}
<+ {"id":2,"result":"<any>"}
@ write a/b.md b.md
@ restart
-- workspace/a/b.md --
- [ ] 1. One
-- later/b.md --
- [x] 1. One
`))
	require.NoError(t, err)
	require.Equal(t, "A title", c.Title)
	require.Equal(t, []string{"More."}, c.Remarks)
	require.Equal(t, []string{"rpc", "mcp"}, c.Doors)
	require.Equal(t, []string{"line"}, c.Framings)
	require.False(t, c.Workspace)
	require.Equal(t, []conformance.File{{Name: "a/b.md", Data: []byte("- [ ] 1. One\n")}}, c.Files)
	require.Equal(t, []conformance.Step{
		{Line: 7, Verb: conformance.Remark, Text: "A remark."},
		{Line: 8, Verb: conformance.Send, Text: `{"id":1,"method":"ping"}`},
		{Line: 11, Verb: conformance.Raw, Text: "{"},
		{Line: 12, Verb: conformance.Bytes, Text: `\x0a`},
		{Line: 13, Verb: conformance.Expect, Text: `{"id":1,"result":"<any>"}`},
		{Line: 14, Verb: conformance.Then, Text: `{"id":2,"result":"<any>"}`},
		{Line: 15, Verb: conformance.Do, Text: "write a/b.md b.md"},
		{Line: 16, Verb: conformance.Do, Text: "restart"},
	}, c.Steps)
	command, err := c.Command(c.Steps[6])
	require.NoError(t, err)
	require.Equal(t, conformance.Command{Name: "write", File: conformance.File{Name: "a/b.md", Data: []byte("- [x] 1. One\n")}}, command)
}

func TestParseDefaults(t *testing.T) {
	c, err := conformance.Parse("x", []byte("# T\n-- conversation --\n# Nothing.\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"rpc"}, c.Doors)
	require.Equal(t, []string{"line", "header"}, c.Framings)
	require.True(t, c.Workspace)
}

func TestParseRefuses(t *testing.T) {
	for _, row := range []struct{ name, text, why string }{
		{"no title", "-- conversation --\n# x\n", "x:1: it has no title"},
		{"no conversation", "# T\n", "x:1: it has no part named conversation"},
		{"an unknown setting", "# T\nspeed: fast\n-- conversation --\n# x\n", `x:2: setting "speed" cannot be "fast"`},
		{"an unknown word", "# T\ndoors: front\n-- conversation --\n# x\n", `x:2: setting "doors" cannot be "front"`},
		{"a setting without a value", "# T\ndoors:\n-- conversation --\n# x\n", "x:2: \"doors:\" is neither a remark nor a setting"},
		{"an unknown part", "# T\n-- conversation --\n# x\n-- notes --\n", `x:4: part "notes" is neither`},
		{"a part outside", "# T\n-- conversation --\n# x\n-- workspace/../y --\n", `x:4: part "workspace/../y" is neither`},
		{"two conversations", "# T\n-- conversation --\n# x\n-- conversation --\n# x\n", `x:4: part "conversation" is neither the only`},
		{"an unknown verb", "# T\n-- conversation --\nping\n", `x:3: a line begins with one of`},
		{"a verb without a blank", "# T\n-- conversation --\n>{}\n", `x:3: a line begins with one of`},
		{"nothing to continue", "# T\n-- conversation --\n  {}\n", "x:3: there is nothing that this line could continue"},
		{"a message that is not JSON", "# T\n-- conversation --\n> {\n", "x:3: the message is not JSON; with >! it is sent all the same"},
		{"a message with a wish", "# T\n-- conversation --\n> {\"a\":\"<int>\"}\n", "x:3: <int> says what may be heard and cannot be sent"},
		{"an unknown kind", "# T\n-- conversation --\n> {\"a\":\"<tks:1>\"}\n", "x:3: <tks:1> is of no known kind"},
		{"an unknown kind in a pattern", "# T\n-- conversation --\n< {\"a\":\"<tks:1>\"}\n", "x:3: <tks:1> is of no known kind"},
		{"a pattern that is not JSON", "# T\n-- conversation --\n< {...}\n", "x:3: not JSON"},
		{"two patterns in a line", "# T\n-- conversation --\n< {} {}\n", "x:3: not JSON: there is more behind the first value"},
		{"a repetition in a pattern", "# T\n-- conversation --\n< {\"a\":\"<repeat:3:x>\"}\n", "x:3: <repeat:3:x> can be sent, and not expected"},
		{"after nothing", "# T\n-- conversation --\n> {}\n<+ {}\n", "x:4: there is no expectation on the line above"},
		{"an unknown command", "# T\n-- conversation --\n@ sleep 5\n", `x:3: "sleep 5" is no command`},
		{"an exit code in words", "# T\n-- conversation --\n@ exit one\n", `x:3: exit code "one" is not a number`},
		{"nothing to write", "# T\n-- conversation --\n@ write a.md b.md\n", "x:3: there is no part later/b.md to write"},
		{"a path outside", "# T\n-- conversation --\n@ remove ../a.md\n", `x:3: "../a.md" is no path in the workspace`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := conformance.Parse("x", []byte(row.text))
			require.ErrorContains(t, err, row.why)
		})
	}
}

// Reading anything gives a conversation or an error with a line, and what is read can be shown.
func FuzzParse(f *testing.F) {
	f.Add("# T\ndoors: mcp\n-- conversation --\n> {}\n< {\"a\":\"<tsk:1>\"}\n<+ {}\n@ exit 0\n-- workspace/a --\nx\n")
	f.Add("# T\n-- conversatio -- \n")
	f.Add("# T\n-- conversation --\n>! \\xff<repeat:3:x>\n>= x\n@ close\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := conformance.Parse("x", []byte(text))
		if err != nil {
			require.Regexp(t, `^x:[1-9][0-9]*: .`, err.Error())
			return
		}
		require.NotEmpty(t, c.Title)
		require.NotEmpty(t, c.Transcript())
		conformance.Exchanges([]*conformance.Conversation{c})
	})
}
