package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// The last folder of a tool in a path speaks, wherever the path begins.
func TestThePartOfAPathThatSpeaks(t *testing.T) {
	for path, want := range map[string]string{
		"/home/a/.spec-workflow/specs/x/tasks.md": ".spec-workflow/specs/x/tasks.md",
		".kiro/specs/x/tasks.md":                  ".kiro/specs/x/tasks.md",
		"/a/.kiro/b/openspec/changes/tasks.md":    "openspec/changes/tasks.md",
		"/a/my.kiro/tasks.md":                     "/a/my.kiro/tasks.md",
		"":                                        "",
	} {
		require.Equal(t, want, plan.HintPath(path))
	}
}
