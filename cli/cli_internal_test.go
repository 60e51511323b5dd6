package cli

import (
	"strings"
	"testing"

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
		for _, cmd := range newRoot(testApp(), strings.Fields(line)).Commands() {
			names = append(names, cmd.Name())
		}
		require.Equal(t, wanted, strings.Join(names, " "), line)
	}
	for _, line := range []string{"", "--json", "ui", "--workspace hook ls", "-h hook", "-- hook"} {
		found, _, err := newRoot(testApp(), strings.Fields(line)).Find([]string{"ui"})
		require.NoError(t, err, line)
		require.Equal(t, "ui", found.Name(), line)
	}
}

func testApp() *program.App {
	return &program.App{Printer: output.Printer{Env: func(string) string { return "" }}}
}
