package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	planfile "waybill/plan/file"
)

// plant makes the files of a workspace.
func plant(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), name)
	}
}

func TestFindThePlansOfAllTools(t *testing.T) {
	dir := t.TempDir()
	want := []string{
		".claude/plans/happy-fox.md", ".kiro/specs/a/tasks.md", ".specify/specs/001-a/tasks.md", ".taskmaster/tasks/tasks.json",
		"_bmad-output/implementation-artifacts/1-2-login.md", "agent-os/specs/2026-01-01-a/plan.md", "agent-os/specs/2026-01-01-a/tasks.md",
		"conductor/tracks.md", "conductor/tracks/a_20260101/plan.md", "docs/plans/2026-01-01-a.md", "docs/stories/1.1.story.md",
		"docs/superpowers/plans/2026-01-01-a.md", "kitty-specs/001-a/tasks.md", "openspec/changes/add-a/part/tasks.md",
		"openspec/changes/add-a/tasks.md", "tasks/tasks-prd-a.md",
	}
	plant(t, dir, want...)
	plant(t, dir,
		// folders that are plans
		".claude/epics/a/epic.md", ".claude/epics/a/001.md", ".claude/epics/a/updates/1.md", "backlog/tasks/back-1 - A.md",
		".planning/phases/01-a/01-01-PLAN.md", ".planning/phases/01-a/01-RESEARCH.md",
		// what is none
		".claude/epics/.archived/b/001.md", ".claude/agents/x.md", ".claude/commands/tasks.md", "backlog/completed/back-0 - B.md",
		".taskmaster/tasks/task_001.txt", ".taskmaster/docs/prd.md", ".planning/ROADMAP.md", "docs/README.md", "docs/plans/README.md",
		"docs/plans/old/2025.md", "openspec/changes/archive/2026-01-01-b/tasks.md", "openspec/specs/a/spec.md", "specs/a/spec.md",
		"conductor/product.md", "tasks/prd-a.md", "README.md")
	want = append(want, ".claude/epics/a", ".planning/phases/01-a", "backlog/tasks")
	got, err := open(t, dir, planfile.Options{Folders: true}).Find(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.ElementsMatch(t, want, got)
	require.IsIncreasing(t, got)
}

// Another tree of the same repository is another workspace, and what is installed is nobody's plan.
func TestFindLeavesOtherWorkspacesAlone(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "tasks.md", ".git/HEAD", ".git/worktrees/x/tasks.md", ".git/worktrees/x/specs/a/tasks.md", ".worktrees/x/tasks.md",
		".claude/worktrees/x/.claude/plans/a.md", "worktrees/x/tasks.md", "node_modules/x/tasks.md", "vendor/x/tasks.md",
		"specs/node_modules/tasks.md", "specs/vendor/tasks.md", "specs/.hidden/tasks.md", ".cache/tasks.md")
	got, err := open(t, dir, planfile.Options{Folders: true}).Find(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Equal(t, []string{"tasks.md"}, got)
}

// The texts of the tasks are a plan as long as there is no file that they are made from.
func TestFindPrefersTheFileWithAllTasks(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, ".taskmaster/tasks/task_001.txt", ".taskmaster/tasks/tasks.json")
	r := open(t, dir, planfile.Options{Folders: true})
	for _, want := range []string{".taskmaster/tasks/tasks.json", ".taskmaster/tasks"} {
		got, err := r.Find(planfile.DefaultPatterns())
		require.NoError(t, err)
		require.Equal(t, []string{want}, got)
		_ = os.Remove(filepath.Join(dir, ".taskmaster", "tasks", "tasks.json"))
	}
}

// Every place that a plan may come to is named before it is there, so that somebody can watch it.
func TestSearchNamesThePlacesOfWhatIsToCome(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "specs/001-a/spec.md", "openspec/changes/archive/b/tasks.md", "docs/plans/notes.md")
	found, err := open(t, dir, planfile.Options{Folders: true}).Search(planfile.DefaultPatterns())
	require.NoError(t, err)
	require.Equal(t, []string{"docs/plans/notes.md"}, found.Plans)
	require.Subset(t, found.Spots, []string{"tasks.md", "specs", "specs/001-a/tasks.md", "docs/plans", "docs/plans/notes.md", "backlog/tasks", ".kiro/specs", "openspec/changes"})
	for _, spot := range found.Spots {
		require.NotContains(t, spot, "archive")
		require.NotEqual(t, ".", spot)
	}
}

// A place with other files besides plans is told from one that has nothing else.
func TestMixedPlaces(t *testing.T) {
	for name, want := range map[string]bool{
		"docs/plans/a.md": true, ".claude/epics/a": true, ".planning/phases/01-a": true,
		"tasks.md": false, "specs/a/tasks.md": false, "backlog/tasks": false,
	} {
		require.Equal(t, want, planfile.Mixed(name), name)
	}
}

func TestFindTakesOutWhatAPatternExcepts(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "a/x.md", "a/y.md", "b/x.md", "c/d/x.md")
	r := open(t, dir, planfile.Options{})
	got, err := r.Find([]string{"!b", "*/*.md", "!*/y.md", "c/*/x.md"})
	require.NoError(t, err)
	require.Equal(t, []string{"a/x.md", "c/d/x.md"}, got)
	_, err = r.Find([]string{"!../x"})
	require.ErrorIs(t, err, planfile.OutsideWorkspace)
}

// Two spellings of a folder are one plan where case does not count, and one is nothing where it does.
func TestFaultF17_FolderIsListedOnce(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "backlog/tasks/back-1.md")
	r := open(t, dir, planfile.Options{Folders: true})
	got, err := r.Find([]string{"BACKLOG/TASKS/", "Backlog/tasks/", "backlog/tasks/", "backlog/*/", "./backlog//tasks/"})
	require.NoError(t, err)
	require.Equal(t, []string{"backlog/tasks"}, got)
}
