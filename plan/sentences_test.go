package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Small sentences about wide ranges stand for many pairs; what is too much is left out and said.
func TestSentencesCannotAskForMuchMemory(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "- [ ] T%04d a\n", i)
	}
	b.WriteString("## Dependencies\n" + strings.Repeat("- T0001-T0200 before T0300-T0500\n", 1000))
	r := parse(t, b.String())
	require.Len(t, diagnostics(r, "graph_too_large"), 1)
	require.Len(t, item(t, r, "T0300").DependsOn, 200)
}
