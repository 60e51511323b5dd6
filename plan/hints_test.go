package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// Where a plan lies settles what its text leaves open, and nothing else.
func TestPathBreaksATie(t *testing.T) {
	plain := "- [ ] 1. a\n- [~] 2. b\n"
	for _, c := range []struct{ path, text, dialect string }{
		{"", plain, "spec-context"},
		{"tasks.md", plain, "spec-context"},
		{".kiro/specs/x/tasks.md", plain, "kiro"},
		{".spec-workflow/specs/x/tasks.md", plain, "spec-workflow"},
		{".spec-context/specs/x/tasks.md", plain, "spec-context"},
		{"openspec/changes/x/tasks.md", "- [ ] 1.1 a\n- [ ] show it\n", "openspec"},
		{"tasks/tasks-x.md", "- [ ] 1.0 a\n", "ai-dev-tasks"},
		{"conductor/tracks/x/plan.md", "## Phase 1: A\n- [~] a\n", "conductor"},
		{"_bmad-output/x.md", "## Tasks\n- [ ] a\n", "bmad"},
		{"docs/.kiro/tasks.md", plain, "spec-context"},
		// fields that both have
		{".spec-workflow/specs/x/tasks.md", plain + "  - _Prompt: Role: a_\n", "spec-workflow"},
		{".kiro/specs/x/tasks.md", plain + "  - _Prompt: Role: a_\n", "spec-context"},
		// boxes without a number, which would be loose
		{"conductor/tracks/x/plan.md", "- [~] a\n- [ ] b\n", "conductor"},
		{"docs/superpowers/plans/x.md", "- [ ] a\n", "superpowers"},
		{"docs/stories/1.1.x.md", "- [ ] a\n## Tasks / Subtasks\n- [ ] b\n", "bmad"},
		{"docs/stories/1.1.x.md", "- [ ] a\n## Notes\n- [ ] b\n", "loose"},
		// texts that say otherwise
		{".spec-context/specs/x/tasks.md", "- [ ]* 1. a\n", "kiro"},
		{".kiro/specs/x/tasks.md", "- [ ] 1. a (P)\n", "cc-sdd"},
		{"openspec/changes/x/tasks.md", "- [ ] 1. a\n  - _Requirements: 1_\n", "spec-context"},
		{"openspec/changes/x/tasks.md", "- [ ] T001 a\n- [ ] T002 b\n", "spec-kit"},
		{".specify/specs/x/tasks.md", plain, "spec-context"},
		{"conductor/tracks/x/plan.md", "- [ ] 001.md - a\n", "ccpm"},
		{"_bmad-output/x.md", "- [ ] a\n", "loose"},
		{".specify/specs/x/tasks.md", "- ✅ a\n", "loose"},
		{".kiro/specs/x/tasks.md", "<!-- waybill: dialect=openspec -->\n" + plain, "openspec"},
	} {
		r, err := plan.Read(c.text, plan.Hints{Path: c.path})
		require.NoError(t, err, c.path)
		require.Equal(t, c.dialect, r.Dialect, "%s\n%s", c.path, c.text)
	}
}

// What the path speaks for is told, whether it decided or not, and comes from no line.
func TestPathIsEvidence(t *testing.T) {
	hint := plan.Evidence{Dialect: "spec-workflow", Signal: "path that begins with .spec-workflow/"}
	for text, dialect := range map[string]string{"- [~] 1. a\n": "spec-workflow", "- [ ]* 1. a\n": "kiro", "- [ ] T001 a\n- [ ] T002 b\n": "spec-kit"} {
		r, err := plan.Read(text, plan.Hints{Path: ".spec-workflow/specs/x/tasks.md"})
		require.NoError(t, err)
		require.Equal(t, dialect, r.Dialect)
		require.Contains(t, r.Evidence, hint)
		require.Positive(t, r.Evidence[0].Line)
	}
	r, err := plan.Read("- [~] 1. a\n", plan.Hints{Path: ".spec-workflow/specs/x/tasks.md"})
	require.NoError(t, err)
	require.Equal(t, plan.Blocked, r.Items()[0].Status)
}

// The configuration decides before a comment in the file, the text and the path.
func TestConfigurationSetsTheDialect(t *testing.T) {
	set := plan.Hints{Dialect: "openspec", Pattern: "*.md", Path: ".kiro/specs/x/tasks.md"}
	r, err := plan.Read("<!-- waybill: dialect=kiro -->\n- [ ]* 1. a\n  - _Prompt: x_\n", set)
	require.NoError(t, err)
	require.Equal(t, "openspec", r.Dialect)
	require.Equal(t, plan.Evidence{Dialect: "openspec", Signal: "set by configuration for *.md"}, r.Evidence[0])
	require.Contains(t, r.Evidence, plan.Evidence{Line: 1, Dialect: "kiro", Signal: "comment that sets the dialect"})
	require.Contains(t, r.Evidence, plan.Evidence{Dialect: "kiro", Signal: "path that begins with .kiro/"})

	_, err = plan.Read("- [ ] 1. a\n", plan.Hints{Dialect: "spec-kit"})
	var parse *plan.ParseError
	require.ErrorAs(t, err, &parse)
	require.Equal(t, 1, parse.Checkboxes)
}

// A comment that names no dialect is reported although it has nothing to say.
func TestConfigurationLeavesAnUnknownDialectReported(t *testing.T) {
	r, err := plan.Read("<!-- waybill: dialect=nope -->\n- [ ] 1. a\n", plan.Hints{Dialect: "kiro"})
	require.NoError(t, err)
	require.Equal(t, "kiro", r.Dialect)
	require.Equal(t, "unknown_dialect", r.Diagnostics[0].Code)
}

// Without its path, the plan with the new mark would be one of another dialect, and the status refused.
func TestMarkedPlanIsReadAgainWhereItLies(t *testing.T) {
	for _, p := range []plan.Hints{{Path: ".spec-workflow/specs/x/tasks.md"}, {Dialect: "kiro"}} {
		r, err := plan.Read("- [ ] 1. a\n- [ ] 2. b\n", p)
		require.NoError(t, err)
		marked, err := r.Marked(plan.Marking{ItemID: "2", Status: plan.Completed})
		require.NoError(t, err)
		require.Equal(t, "- [ ] 1. a\n- [x] 2. b\n", marked.Text)
	}
}

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
