package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"waybill/doctor"
	"waybill/test/golden"
)

// TestDocsHaveTheTable: docs/doctor.md has the table of the checks as it is, each row and no other.
func TestDocsHaveTheTable(t *testing.T) {
	var want strings.Builder
	want.WriteString("| check | looks at |\n|---|---|\n")
	for _, check := range doctor.Table() {
		fmt.Fprintf(&want, "| %s | %s |\n", check.Name, check.Looks)
	}
	golden.Parts(t, "../docs/doctor.md", map[string]string{"checks": want.String()})
}
