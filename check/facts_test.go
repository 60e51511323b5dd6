package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/check"
	"waybill/core/audit"
	"waybill/schema"
)

// never says that no worker was told that nothing has changed.
func never(string) bool { return false }

// facts returns the receipt of the facts of a result.
func (f folder) facts(start audit.Start, gitRange string, files ...string) schema.CheckRun {
	f.t.Helper()
	r, err := check.Facts(f.t.Context(), f.dir, audit.Said{GitRange: gitRange, Files: files}, start, never)
	require.NoError(f.t, err)
	require.Equal(f.t, "facts", r.Check)
	return r
}

func (f folder) begin() audit.Start { return check.Begin(f.t.Context(), f.dir) }

// commit changes a file and commits it.
func (f folder) commit(name string) {
	f.t.Helper()
	f.write(name, fmt.Sprintln(name, time.Now().UnixNano()))
	f.git("add", "-A")
	f.git("commit", "-qm", "change "+name)
}

// inMerge leaves the repository in the midst of a merge with a conflict in main.go.
func (f folder) inMerge() {
	f.git("checkout", "-qb", "other")
	f.write("main.go", "theirs")
	f.git("commit", "-qam", "theirs")
	f.git("checkout", "-q", "main")
	f.write("main.go", "ours")
	f.git("commit", "-qam", "ours")
	_, err := f.tryGit("merge", "other")
	require.Error(f.t, err)
}

func TestFacts(t *testing.T) {
	for name, c := range map[string]struct {
		work     func(f folder)
		gitRange string
		files    []string
		outcome  string
		because  string
	}{
		"two commits": {func(f folder) { f.commit("a.go"); f.commit("sub/b.go") }, "HEAD~2..HEAD", []string{"a.go", "sub/b.go"}, "green", "files in the range: 2"},
		"a branch that is merged": {func(f folder) {
			f.git("checkout", "-qb", "feature")
			f.commit("a.go")
			f.git("checkout", "-q", "main")
			f.commit("b.go")
			f.git("merge", "-q", "--no-edit", "feature")
		}, "main~1..main", []string{"a.go"}, "green", ""},
		"not committed":                      {func(f folder) { f.write("main.go", "x"); f.write("new/n.go", "y") }, "HEAD..HEAD", []string{"main.go", "new/n.go"}, "green", ""},
		"staged":                             {func(f folder) { f.write("n.go", "y"); f.git("add", "n.go") }, "", []string{"n.go"}, "green", ""},
		"removed":                            {func(f folder) { f.git("rm", "-q", "main.go") }, "HEAD..HEAD", []string{"main.go"}, "green", ""},
		"moved":                              {func(f folder) { f.git("mv", "main.go", "m.go") }, "HEAD..HEAD", []string{"main.go -> m.go", "main.go"}, "green", ""},
		"committed, but no range":            {func(f folder) { f.commit("a.go") }, "", []string{"a.go"}, "green", ""},
		"one part committed":                 {func(f folder) { f.commit("a.go"); f.write("b.go", "x") }, "HEAD~1..HEAD", []string{"a.go", "b.go"}, "green", ""},
		"an earlier commit of the same work": {func(f folder) { f.commit("a.go"); f.commit("b.go") }, "HEAD~1..HEAD", []string{"a.go", "b.go"}, "green", ""},
		"a name that is no text":             {func(f folder) { f.commit("a\tb\n.go") }, "HEAD~1..HEAD", []string{"a\tb\n.go"}, "green", ""},
		"an ignored file":                    {func(f folder) { f.write("debug.log", "x"); f.commit("a.go") }, "HEAD~1..HEAD", []string{"debug.log"}, "green", ""},
		"a file that git is told to overlook": {func(f folder) {
			f.git("update-index", "--assume-unchanged", "main.go")
			f.write("main.go", "changed")
		}, "HEAD..HEAD", nil, "green", ""},
		"a locked index": {func(f folder) { f.commit("a.go"); f.write(".git/index.lock", "") }, "HEAD~1..HEAD", []string{"a.go"}, "green", ""},
		"in a merge":     {folder.inMerge, "HEAD~1..HEAD", []string{"main.go"}, "green", ""},

		"invented commits":     {func(f folder) { f.commit("a.go") }, "a1b2c3d..d4e5f6a", nil, "red", `no commit "d4e5f6a"`},
		"a branch that is not": {func(f folder) { f.commit("a.go") }, "main..feature", nil, "red", `no commit "feature"`},
		"a tree for a commit":  {func(f folder) { f.commit("a.go") }, "HEAD^{tree}..HEAD", nil, "red", "no commit"},
		"another branch": {func(f folder) {
			f.git("checkout", "-qb", "feature")
			f.commit("a.go")
			f.git("checkout", "-q", "main")
		}, "main..feature", []string{"a.go"}, "red", "not in the history of HEAD"},
		"another repository": {func(f folder) {
			other := repository(f.t)
			other.commit("a.go")
			f.git("fetch", "-q", other.dir)
		}, "FETCH_HEAD~1..FETCH_HEAD", nil, "red", "not in the history of HEAD"},
		"an empty commit":          {func(f folder) { f.git("commit", "-q", "--allow-empty", "-m", "done") }, "HEAD~1..HEAD", nil, "red", "changes no file"},
		"a change taken back":      {func(f folder) { f.commit("a.go"); f.git("revert", "--no-edit", "HEAD") }, "HEAD~2..HEAD", nil, "red", "changes no file"},
		"swapped ends":             {func(f folder) { f.commit("a.go") }, "HEAD..HEAD~1", nil, "red", "no ancestor"},
		"commits before the work":  {func(f folder) { f.write("b.go", "x") }, "HEAD~1..HEAD", nil, "red", "before the work on this item began"},
		"nothing":                  {func(folder) {}, "HEAD..HEAD", nil, "red", "no file differs"},
		"nothing, no range":        {func(folder) {}, "", nil, "red", "no file differs"},
		"only an ignored file":     {func(f folder) { f.write("debug.log", "x") }, "HEAD..HEAD", nil, "red", "no file differs"},
		"a file that is as before": {func(f folder) { f.commit("a.go") }, "HEAD~1..HEAD", []string{"main.go"}, "red", `no change of "main.go"`},
		"a file that is not there": {func(f folder) { f.commit("a.go") }, "HEAD~1..HEAD", []string{"ghost.go"}, "red", `no change of "ghost.go"`},
		"a file outside":           {func(f folder) { f.commit("a.go") }, "HEAD~1..HEAD", []string{"../a.go"}, "red", "outside the workspace"},
		"an absolute path":         {func(f folder) { f.commit("a.go") }, "HEAD~1..HEAD", []string{"/etc/hosts"}, "red", "outside the workspace"},
		"a file behind a link": {func(f folder) {
			require.NoError(f.t, os.Symlink("/etc", filepath.Join(f.dir, "etc")))
			f.commit("a.go")
		}, "HEAD~1..HEAD", []string{"etc/hosts"}, "red", `no change of "etc/hosts"`},
		"an option for git": {func(f folder) { f.commit("a.go") }, "HEAD~1..--all", nil, "red", "no commit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := repository(t)
			f.commit("before.go")
			start := f.begin()
			c.work(f)
			before := contents(t, f.dir)
			r := f.facts(start, c.gitRange, c.files...)
			require.Equal(t, c.outcome, r.Outcome, r.Output)
			require.Contains(t, r.Output, c.because)
			require.NotEmpty(t, r.TreeAfter)
			require.Equal(t, r.TreeBefore, r.TreeAfter)
			require.Equal(t, before, contents(t, f.dir), "the repository is as it was")
		})
	}
}

// The worker was told that nothing has changed, and says again that it is done: a person decides.
func TestWorkThatChangesNothingTwiceIsLeftToAPerson(t *testing.T) {
	f := repository(t)
	start := f.begin()
	told := f.facts(start, "HEAD..HEAD").TreeAfter
	r, err := check.Facts(t.Context(), f.dir, audit.Said{GitRange: "HEAD..HEAD"}, start, func(tree string) bool { return tree == told })
	require.NoError(t, err)
	require.Equal(t, "protected", r.Outcome)
}

// A plan was walked in a dirty workspace. Changes from before are no work.
func TestChangesFromBeforeTheWorkAreNotTheWork(t *testing.T) {
	f := repository(t)
	f.write("dirty.go", "x")
	start := f.begin()
	require.Equal(t, "red", f.facts(start, "HEAD..HEAD").Outcome)
	f.write("dirty.go", "y")
	require.Equal(t, "green", f.facts(start, "HEAD..HEAD", "dirty.go").Outcome)

	f.git("stash", "-qu")
	require.Equal(t, "red", f.facts(audit.Start{}, "HEAD..HEAD").Outcome, "with an unknown start, something must be left to commit")
	f.write("main.go", "x")
	require.Equal(t, "green", f.facts(audit.Start{}, "HEAD..HEAD").Outcome)
}

func TestFactsOfUnusualRepositories(t *testing.T) {
	origin := repository(t)
	origin.commit("second.go")
	parent := folder{t, t.TempDir()}

	parent.git("clone", "-q", "--depth", "1", "file://"+origin.dir, "shallow")
	shallow := folder{t, filepath.Join(parent.dir, "shallow")}
	start := shallow.begin()
	shallow.commit("a.go")
	require.Equal(t, "green", shallow.facts(start, "HEAD~1..HEAD", "a.go").Outcome)
	require.Contains(t, shallow.facts(start, "HEAD~2..HEAD").Output, "lacks old commits")

	origin.git("worktree", "add", "-q", filepath.Join(parent.dir, "linked"))
	linked := folder{t, filepath.Join(parent.dir, "linked")}
	start = linked.begin()
	linked.commit("b.go")
	require.Equal(t, "green", linked.facts(start, "main..linked", "b.go").Outcome)
	require.Contains(t, origin.facts(origin.begin(), "main..linked", "b.go").Output, "not in the history of HEAD", "the worktree has a branch of its own")

	sub := folder{t, filepath.Join(origin.dir, "sub")} // a workspace inside a repository
	start = sub.begin()
	origin.write("main.go", "outside the workspace")
	require.Equal(t, "red", sub.facts(start, "HEAD..HEAD").Outcome)
	require.Equal(t, "red", sub.facts(start, "HEAD..HEAD", "main.go").Outcome)
	origin.git("commit", "-qam", "outside")
	require.Contains(t, sub.facts(start, "HEAD~1..HEAD").Output, "changes no file of the workspace")
	sub.write("part.go", "inside")
	require.Equal(t, "green", sub.facts(start, "HEAD..HEAD", "part.go").Outcome)
	require.Equal(t, "green", sub.facts(start, "HEAD..HEAD", "sub/part.go").Outcome)

	empty := folder{t, t.TempDir()}
	empty.git("init", "-q")
	start = empty.begin()
	require.Equal(t, "red", empty.facts(start, "HEAD..HEAD").Outcome)
	empty.write("a.go", "x")
	require.Equal(t, "green", empty.facts(start, "HEAD..HEAD", "a.go").Outcome)
	empty.commit("a.go")
	require.Equal(t, "green", empty.facts(start, "HEAD..HEAD", "a.go").Outcome)
	require.Equal(t, "green", empty.facts(start, audit.EmptyTree[0]+"..HEAD", "a.go").Outcome)
}

// A partial clone lacks objects, and git would fetch them. It must not: a server elsewhere has no part in a decision.
func TestFactsFetchNothing(t *testing.T) {
	origin := repository(t)
	origin.git("config", "uploadpack.allowFilter", "true")
	origin.commit("second.go")
	parent := folder{t, t.TempDir()}
	parent.git("clone", "-q", "--filter=tree:0", "file://"+origin.dir, "partial")
	partial := folder{t, filepath.Join(parent.dir, "partial")}
	partial.git("config", "protocol.file.allow", "always")
	before := contents(t, partial.dir)
	r := partial.facts(audit.Start{}, "HEAD~1..HEAD", "second.go")
	require.Equal(t, "untrusted", r.Outcome, r.Output)
	require.NotEmpty(t, r.TreeAfter)
	require.Equal(t, before, contents(t, partial.dir))
	start := partial.begin()
	partial.commit("a.go")
	require.Equal(t, "green", partial.facts(start, "HEAD~1..HEAD", "a.go").Outcome, "it has the objects of its own work")
}

// Git does not look at the files of a submodule. A receipt is bound to no files there, and a change of the submodule as a
// whole is what can be seen.
func TestFactsInARepositoryWithASubmodule(t *testing.T) {
	f, module := repository(t), repository(t)
	f.git("submodule", "add", "-q", "file://"+module.dir, "module")
	f.git("commit", "-qm", "module")
	start := f.begin()
	require.Empty(t, start.Tree)
	require.Equal(t, "red", f.facts(start, "HEAD..HEAD").Outcome)
	require.Equal(t, "red", f.facts(start, "HEAD..HEAD", "module/main.go").Outcome)
	inside := folder{t, filepath.Join(f.dir, "module")}
	inside.write("main.go", "changed")
	r := f.facts(start, "HEAD..HEAD", "module/main.go")
	require.Equal(t, "green", r.Outcome, r.Output)
	require.Empty(t, r.TreeAfter)
	inside.commit("main.go")
	require.Equal(t, "red", f.facts(start, "HEAD..HEAD", "main.go").Outcome)
	start = inside.begin() // the submodule is a workspace of its own
	inside.commit("b.go")
	require.Equal(t, "green", inside.facts(start, "HEAD~1..HEAD", "b.go").Outcome)
}

// Where git cannot be asked, a result is neither true nor false.
func TestFactsThatGitCannotShow(t *testing.T) {
	f := repository(t)
	f.git("clone", "-q", "--bare", f.dir, "bare.git")
	bare := folder{t, filepath.Join(f.dir, "bare.git")}
	plain := folder{t, t.TempDir()}
	broken := repository(t)
	broken.write(".git/HEAD", "nonsense")
	for name, c := range map[string]struct {
		f   folder
		why string
	}{
		"bare":          {bare, "not in the working tree"},
		"no repository": {plain, "there is no repository"},
		"damaged":       {broken, ""},
	} {
		r := c.f.facts(audit.Start{}, "HEAD~1..HEAD", "main.go")
		require.Equal(t, "untrusted", r.Outcome, name)
		require.Contains(t, r.Reason, c.why, name)
		require.Error(t, check.CanLook(t.Context(), c.f.dir), name)
	}
	require.ErrorContains(t, check.CanLook(t.Context(), broken.dir), "may be damaged")
	require.NoError(t, check.CanLook(t.Context(), f.dir))
	require.ErrorIs(t, check.CanLook(t.Context(), plain.dir), check.ErrNoRepository)

	defer check.WithGit("")()
	require.ErrorContains(t, check.CanLook(t.Context(), f.dir), "git is not installed")
	require.ErrorIs(t, check.CanLook(t.Context(), plain.dir), check.ErrNoRepository)
	require.Equal(t, "untrusted", f.facts(audit.Start{}, "HEAD~1..HEAD").Outcome)
}
