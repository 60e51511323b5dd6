package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/program"
)

// A host waits for the construction of the command line, and its flags may come before the command.
func TestHostsWaitForNoOtherCommand(t *testing.T) {
	for line, wanted := range map[string]string{
		"hook claude-code":                       "hook version",
		"--workspace w --json hook claude-code":  "hook version",
		"--workspace=w version":                  "hook version",
		"--dialect *.md=kiro serve --framing ld": "mcp serve",
		"--store hook mcp":                       "mcp serve",
	} {
		var names []string
		for _, cmd := range rootOf(line).Commands() {
			names = append(names, cmd.Name())
		}
		require.Equal(t, wanted, strings.Join(names, " "), line)
	}
	for _, line := range []string{"", "--json", "ui", "--workspace hook ls", "-h hook", "-- hook"} {
		found, _, err := rootOf(line).Find([]string{"ui"})
		require.NoError(t, err, line)
		require.Equal(t, "ui", found.Name(), line)
	}
}

func rootOf(line string) *cobra.Command {
	root, _ := newRoot(testApp(), strings.Fields(line))
	return root
}

func testApp() *program.App {
	return &program.App{Printer: output.Printer{Env: func(string) string { return "" }}}
}

// The help lists the commands on lines of 80 columns, and every command that does something shows how.
func TestEveryCommandHasOneLineAndAnExample(t *testing.T) {
	root := rootOf("")
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		require.LessOrEqual(t, len(cmd.Short), 66, "%s: %s", cmd.CommandPath(), cmd.Short)
		if cmd.Runnable() && !cmd.HasSubCommands() && cmd.Name() != "help" {
			require.Contains(t, cmd.Example, "waybill", cmd.CommandPath())
		}
		for _, child := range cmd.Commands() {
			check(child)
		}
	}
	for _, f := range families {
		for name := range strings.FieldsSeq(f.commands) {
			cmd := child(root, name)
			require.NotNil(t, cmd, name)
			if name != "completion" {
				check(cmd)
			}
		}
	}
}
