package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/store"
)

// TestPromptCheck: what no store keeps is refused in words that say what is wrong with it, and how much of it.
func TestPromptCheck(t *testing.T) {
	longest := strings.Repeat("x", store.MaxPromptText)
	for _, good := range []store.Prompt{
		{Role: core.Worker},
		{Role: core.CodeQualityReviewer, Version: strings.Repeat("v", 64), Cursor: longest, Text: longest, Tokens: 1 << 40},
	} {
		require.NoError(t, good.Check())
	}
	for want, bad := range map[string]store.Prompt{
		"role(0) is none": {Text: "x"},
		"role(4) is none": {Role: core.Roles + 1},
		"the version of the prompt for worker has 65 bytes, and 64": {Role: core.Worker, Version: strings.Repeat("v", 65)},
		"the cursor of the prompt for worker has 1048577 bytes":     {Role: core.Worker, Cursor: longest + "x"},
		"the text of the prompt for spec-reviewer has 1048577":      {Role: core.SpecReviewer, Text: longest + "x"},
		"for worker has -1 tokens":                                  {Role: core.Worker, Tokens: -1},
	} {
		require.ErrorContains(t, bad.Check(), want)
	}
}
