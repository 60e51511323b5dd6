package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/plan/criteria"
	planfile "waybill/plan/file"
)

const rainCriteria = "### Requirement 1\n#### Acceptance Criteria\n1. WHEN it rains THEN the siren SHALL sound\n"

// plansReadLater returns the plans of a folder with a clock one hour ahead, so that its files count as settled.
// real returns a new folder by its path without links.
func real(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func file(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func plansReadLater(t testing.TB, dir string) *engine.Plans {
	t.Helper()
	root, err := planfile.Open(dir, planfile.Options{
		MaxBytes: 1 << 10, Now: func() time.Time { return time.Now().Add(time.Hour) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return engine.NewPlans(root, engine.PlanOptions{})
}

func criteriaIn(t *testing.T, plans *engine.Plans, plan, dialect string) []criteria.Criterion {
	t.Helper()
	c, err := plans.Criteria(plan, dialect)
	require.NoError(t, err)
	return c.List
}

func TestCriteriaStandWhereTheDialectHasThem(t *testing.T) {
	dir := real(t)
	for name, text := range map[string]string{
		"rain/requirements.md": rainCriteria,
		"rain/spec.md":         "- **FR-001**: it MUST be loud\n",
		"rain/story.md":        "## Acceptance Criteria\n1. loud\n2. red\n",
		"requirements.md":      "WHEN a SHALL b\n\nWHEN c SHALL d\n\nWHEN e SHALL f\n",
	} {
		file(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	plans := plansReadLater(t, dir)
	for _, c := range []struct {
		plan, dialect, path string
		n                   int
	}{
		{"rain/tasks.md", "kiro", "rain/requirements.md", 1},
		{"rain/tasks.md", "", "rain/requirements.md", 1},
		{"rain/tasks.md", "spec-kit", "rain/spec.md", 1},
		{"rain/story.md", "bmad", "rain/story.md", 2},
		{"tasks.md", "kiro", "requirements.md", 3},
		{"tasks.md", "spec-kit", "", 0},
		{"sun/tasks.md", "kiro", "", 0},
	} {
		got, err := plans.Criteria(c.plan, c.dialect)
		require.NoError(t, err)
		require.Equal(t, c.path, got.Path)
		require.Len(t, got.List, c.n)
	}
}

func TestCriteriaAreReadAgainOnlyAfterAChange(t *testing.T) {
	dir := real(t)
	path := file(t, filepath.Join(dir, "requirements.md"), rainCriteria)
	plans := plansReadLater(t, dir)
	first := criteriaIn(t, plans, "tasks.md", "")
	require.Len(t, first, 1)
	require.Same(t, &first[0], &criteriaIn(t, plans, "tasks.md", "")[0])

	file(t, path, rainCriteria+"2. IF it stops THEN it SHALL say so\n")
	require.Len(t, criteriaIn(t, plans, "tasks.md", ""), 2)
	require.NoError(t, os.Remove(path))
	require.Empty(t, criteriaIn(t, plans, "tasks.md", ""))
	file(t, path, rainCriteria)
	require.Equal(t, first, criteriaIn(t, plans, "tasks.md", ""))
}

func TestCriteriaThatCannotBeReadAreAnError(t *testing.T) {
	dir := real(t)
	file(t, filepath.Join(dir, "requirements.md"), strings.Repeat("WHEN a SHALL b\n\n", 1<<10))
	plans := plansReadLater(t, dir)
	got, err := plans.Criteria("tasks.md", "")
	require.ErrorIs(t, err, planfile.TooLarge)
	require.Equal(t, engine.Criteria{Path: "requirements.md"}, got)

	file(t, filepath.Join(dir, "requirements.md"), rainCriteria)
	require.Len(t, criteriaIn(t, plans, "tasks.md", ""), 1)
}
