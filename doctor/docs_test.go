package doctor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/doctor"
)

// TestDocsHaveTheTable: docs/doctor.md has the table of the checks as it is, each row and no other.
func TestDocsHaveTheTable(t *testing.T) {
	text, err := os.ReadFile("../docs/doctor.md")
	require.NoError(t, err)
	var want strings.Builder
	want.WriteString("| check | looks at |\n|---|---|\n")
	for _, check := range doctor.Table() {
		fmt.Fprintf(&want, "| %s | %s |\n", check.Name, check.Looks)
	}
	require.Contains(t, strings.ReplaceAll(string(text), "\r\n", "\n"), want.String()+"\n", "the table in docs/doctor.md must be:\n%s", want.String())
}
