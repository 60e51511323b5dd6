package shellcmd_test

import (
	"bufio"
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
	file, err := os.Open("testdata/commands.txt")
	require.NoError(t, err)
	defer file.Close()
	met, run, other := 0, 0, 0
	for rows := bufio.NewScanner(file); rows.Scan(); {
		if strings.HasPrefix(rows.Text(), "#") {
			continue
		}
		fields := strings.Split(rows.Text(), "\t")
		require.Len(t, fields, 3, rows.Text())
		var line string
		require.NoError(t, json.Unmarshal([]byte(fields[2]), &line), rows.Text())
		wanted, err := shellcmd.Parse(fields[0])
		require.NoError(t, err, rows.Text())
		spelled, found := wanted.FindIn(line)
		switch fields[1] {
		case "run":
			run++
			if found {
				met++
			} else {
				t.Log("missed: ", rows.Text())
			}
		case "not":
			other++
			if found {
				t.Errorf("%q does not run %q, but it is met by %q", line, fields[0], spelled)
			}
		default:
			t.Fatalf("no label: %s", rows.Text())
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
