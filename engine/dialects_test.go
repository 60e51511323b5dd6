package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/engine"
	planfile "waybill/plan/file"
)

// A change of the dialect rules takes effect without a change of a plan.
func TestPlansFollowTheDialectsOfTheWorkspace(t *testing.T) {
	dir, rules := t.TempDir(), filepath.Join(t.TempDir(), "dialects")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tasks.md"), []byte("- [~] 1. Row\n- [ ] 2. Moor\n"), 0o600))
	root, err := planfile.Open(dir, planfile.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	plans := engine.NewPlans(root, engine.PlanOptions{DialectFile: rules})
	dialect := func() string {
		p, err := plans.Read("tasks.md")
		require.NoError(t, err)
		require.Empty(t, p.Stale)
		return p.Reading.Dialect
	}
	require.Equal(t, "spec-context", dialect())
	require.Empty(t, plans.Dialects())

	set := []engine.DialectRule{{Pattern: "tasks.md", Dialect: "conductor"}}
	require.NoError(t, engine.WriteDialects(rules, set))
	require.Equal(t, "conductor", dialect())
	require.Equal(t, set, plans.Dialects())

	require.NoError(t, engine.WriteDialects(rules, []engine.DialectRule{{Pattern: "*.md", Dialect: "spec-workflow"}}))
	require.Equal(t, "spec-workflow", dialect())

	require.NoError(t, engine.WriteDialects(rules, nil))
	require.NoError(t, engine.WriteDialects(rules, nil), "there may be none to remove")
	require.Equal(t, "spec-context", dialect())
}

func TestDialectFileIsReadAsFarAsPossible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dialects")
	require.NoError(t, os.WriteFile(file, []byte("a.md=klingon\n*=b.md=kiro\n"), 0o600))
	rules, err := engine.ReadDialects(file)
	require.ErrorContains(t, err, `there is no dialect "klingon"`)
	require.Equal(t, []engine.DialectRule{{Pattern: "*=b.md", Dialect: "kiro"}}, rules)
	require.Error(t, engine.CheckDialectRule(engine.DialectRule{Pattern: "a\nb", Dialect: "kiro"}), "it would be two lines")
	require.Error(t, engine.WriteDialects(filepath.Join(file, "below"), rules))

	large, link := filepath.Join(t.TempDir(), "large"), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.WriteFile(large, make([]byte, 2<<20), 0o600))
	_, err = engine.ReadDialects(large)
	require.ErrorContains(t, err, "has more than")
	if os.Symlink(file, link) == nil {
		_, err = engine.ReadDialects(link)
		require.ErrorContains(t, err, "is a symbolic link")
	}
}
