package shellcmd_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/shellcmd"
)

// The corpus holds command lines as coding agents write them: the wanted command, the label by the rule of the package
// comment, and the line as JSON. At least 99 of 100 lines that run the command are met, and no other line.
func TestLinesAsAgentsWriteThem(t *testing.T) {
	corpus, err := os.ReadFile("testdata/commands.txt")
	require.NoError(t, err)
	met, run, other := 0, 0, 0
	for row := range strings.Lines(string(corpus)) {
		if strings.HasPrefix(row, "#") {
			continue
		}
		fields := strings.Split(row, "\t")
		require.Len(t, fields, 3, row)
		var line string
		require.NoError(t, json.Unmarshal([]byte(fields[2]), &line), row)
		wanted, err := shellcmd.Parse(fields[0])
		require.NoError(t, err, row)
		spelled, found := wanted.FindIn(line)
		switch fields[1] {
		case "run":
			run++
			if found {
				met++
			} else {
				t.Log("missed: ", row)
			}
		case "not":
			other++
			if found {
				t.Errorf("%q does not run %q, but it is met by %q", line, fields[0], spelled)
			}
		default:
			t.Fatalf("no label: %s", row)
		}
	}
	t.Logf("%d of %d that run the command are met; %d do not run it", met, run, other)
	require.GreaterOrEqual(t, run+other, 1000)
	require.GreaterOrEqual(t, 100*met, 99*run)
}

// A line can be hostile: none takes long, and none that cannot be read runs anything.
func TestHostileLines(t *testing.T) {
	wanted, err := shellcmd.Parse("go test")
	require.NoError(t, err)
	for name, line := range map[string]string{
		"too long":      "go test " + strings.Repeat("a", 1<<15),
		"subshells":     strings.Repeat("(", 15000) + "go test" + strings.Repeat(")", 15000),
		"open":          strings.Repeat("(", 1<<15),
		"substitutions": strings.Repeat("$(", 15000),
		"quotes":        strings.Repeat(`"$(`, 10000),
		"braces":        strings.Repeat("{ ", 15000),
		"arithmetic":    strings.Repeat("$((", 10000),
		"parameters":    strings.Repeat("${a:-", 6000),
		"here-docs":     strings.Repeat("cat <<A\n", 4000),
	} {
		_, found := wanted.FindIn(line)
		require.False(t, found, name)
	}
}
