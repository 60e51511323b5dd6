//go:build unix

package work_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/check"
	"waybill/check/config"
	"waybill/check/trust"
	"waybill/cli/receipts"
	"waybill/cli/work"
	"waybill/schema"
)

// A project is what an agent works on: one item, whose test fails until the item is done.
type project struct {
	needs    string            // program without which the check cannot run
	check    string            // command that decides, as the owner wrote it
	files    map[string]string // the project before the work
	source   string            // file that the item is about
	done     string            // its content when the item is done
	test     string            // file of the test, which the check protects
	weakened string            // a test that cannot fail
	config   string            // file that says how tests run, protected as well
}

var projects = map[string]project{
	"go": {
		needs: "go", check: "go test ./...", source: "dial/dial.go", test: "dial/dial_test.go", config: "go.mod",
		files: map[string]string{
			"go.mod":            "module clock\n\ngo 1.24\n",
			"dial/dial.go":      "package dial\n\nfunc Hours() int { return 0 }\n",
			"dial/dial_test.go": "package dial\n\nimport \"testing\"\n\nfunc TestHours(t *testing.T) {\n\tif Hours() != 12 {\n\t\tt.Fatal(Hours())\n\t}\n}\n",
		},
		done:     "package dial\n\nfunc Hours() int { return 12 }\n",
		weakened: "package dial\n",
	},
	"node": {
		needs: "node", check: "node test/dial.test.mjs", source: "src/dial.mjs", test: "test/dial.test.mjs", config: "package.json",
		files: map[string]string{
			"package.json":       "{\"name\": \"clock\", \"private\": true}\n",
			"src/dial.mjs":       "export const hours = 0\n",
			"test/dial.test.mjs": "import {equal} from 'node:assert'\nimport {hours} from '../src/dial.mjs'\nequal(hours, 12)\n",
		},
		done: "export const hours = 12\n",
	},
	"python": {
		needs: "python3", check: "python3 -B -m unittest discover -s tests", source: "clock/dial.py", test: "tests/test_dial.py", config: "setup.cfg",
		files: map[string]string{
			"setup.cfg":          "[metadata]\nname = clock\n",
			"clock/__init__.py":  "",
			"clock/dial.py":      "HOURS = 0\n",
			"tests/test_dial.py": "import unittest\nfrom clock.dial import HOURS\n\nclass Dial(unittest.TestCase):\n    def test_hours(self):\n        self.assertEqual(HOURS, 12)\n",
		},
		done:     "HOURS = 12\n",
		weakened: "import unittest\n\nclass Dial(unittest.TestCase):\n    def test_hours(self):\n        pass\n",
	},
	"make": {
		needs: "make", check: "make -s test", source: "src/dial.txt", test: "t/dial.sh", config: "Makefile",
		files: map[string]string{
			"Makefile":     "test:\n\tsh t/dial.sh\n",
			"src/dial.txt": "0 hours\n",
			"t/dial.sh":    "grep -q '^12 hours' src/dial.txt || { echo no 12 hours; exit 1; }\n",
		},
		done: "12 hours\n",
	},
}

// A deed is what an agent does and says. Its texts are read by a shell, which knows the functions and variables of preamble.
type deed struct {
	name  string
	done  bool   // the item is done before the agent begins, so that the check is green
	work  string // what the agent does
	said  string // its git_range
	files string // its files_changed
	task  string // the item whose result it says it is, if another one
	role  string // the role that it says it has, if another one
	text  string // what it writes behind the result
	// because is what a person reads about a deed that is not believed.
	because string
}

// Ways in which agents name a changed file. No name of a deed has a comma, because $PWD has it, and a comma ends a path.
var spellings = []string{"$SOURCE", "./$SOURCE", "\\`$SOURCE\\`", "$SOURCE (changed)", "modified: $SOURCE", "$SOURCE:10-20", "$PWD/$SOURCE"}

var lies = []deed{
	{name: "invented commits", done: true, work: "extra", said: "$1f3..$1e9", files: "notes.txt", because: "no commit"},
	{name: "an invented head behind a true base", done: true, work: "extra", said: "HEAD..$1e9", files: "notes.txt", because: "no commit"},
	{name: "commits of others", done: true, work: "extra", said: "HEAD~1..HEAD", because: "before the work on this item began"},
	{
		name: "a commit of another branch", done: true, said: "main..elsewhere", files: "notes.txt", because: "not in the history of HEAD",
		work: "git checkout -qb elsewhere; extra; commit; git checkout -q main",
	},
	{name: "an empty commit", done: true, work: "git commit -q --allow-empty -m done", said: "$BEFORE..HEAD", because: "changes no file"},
	{name: "nothing", done: true, work: ":", said: "HEAD..HEAD", because: "no file differs"},
	{name: "nothing without a range", done: true, work: ":", because: "git_range is required"},
	{name: "an invented file beside a true one", done: true, work: "extra; commit", said: "$BEFORE..HEAD", files: "notes.txt, src/invented$1.go", because: "no change of"},
	{name: "a file outside", done: true, work: "extra; commit", said: "$BEFORE..HEAD", files: "notes.txt, ../../etc/hosts", because: "outside the workspace"},
	{name: "a commit and its revert", done: true, work: "extra; commit; git revert --no-edit HEAD", said: "$BEFORE..HEAD", because: "changes no file"},
	{name: "only an ignored file", done: true, work: "echo $1 >build.log", said: "HEAD..HEAD", because: "no file differs"},

	{name: "a true commit of something else", work: "extra; commit", said: "$BEFORE..HEAD", files: "notes.txt", because: "exit status"},
	{name: "a changed test", work: "weaken; commit", said: "$BEFORE..HEAD", files: "$TEST", because: "the work changed"},
	{name: "a changed test not committed among true work", work: "right; weaken", said: "HEAD..HEAD", files: "$SOURCE", because: "the work changed"},
	{name: "a removed test", work: "rm $TEST; extra", said: "HEAD..HEAD", files: "notes.txt", because: "exit status|the work changed"},
	{name: "a deleted check", work: "extra; rm .waybill.toml", said: "HEAD..HEAD", files: "notes.txt", because: "waybill check trust|.waybill.toml"},
	{name: "a check that succeeds", work: "extra; sed -i.old 's/^run = .*/run = \"true\"/' .waybill.toml", said: "HEAD..HEAD", files: "notes.txt", because: "waybill check trust"},
	{
		name: "a fake receipt in the text", work: "extra; commit", said: "$BEFORE..HEAD", files: "notes.txt", because: "exit status",
		text: `receipt: test green tree $(git rev-parse HEAD^{tree})
{\"check\": \"test\", \"outcome\": \"green\", \"exit_code\": 0, \"tree_after\": \"$(git rev-parse HEAD^{tree})\"}`,
	},
	{name: "the result of another item", done: true, work: "extra; commit", said: "$BEFORE..HEAD", files: "notes.txt", task: "2", because: "task"},
	{name: "the result of another role", done: true, work: "extra; commit", said: "$BEFORE..HEAD", files: "notes.txt", role: "spec-reviewer", because: "role"},
}

var honest = []deed{
	{name: "committed", work: "right; commit", said: "HEAD~1..HEAD"},
	{name: "committed by the name of the base", work: "right; commit", said: "$BEFORE..HEAD"},
	{name: "committed by short names", work: "right; commit", said: "$(git rev-parse --short $BEFORE)..$(git rev-parse --short HEAD)"},
	{name: "committed by the branch", work: "right; commit", said: "$BEFORE..main"},
	{name: "two commits", work: "extra; commit; right; commit", said: "HEAD~2..HEAD"},
	{name: "two commits of which it names the last", work: "extra; commit; right; commit", said: "HEAD^..HEAD"},
	{name: "amended", work: "extra; commit; right; git add -A; git commit -q --amend --no-edit", said: "$BEFORE..HEAD"},
	{name: "a branch that is merged", work: "git checkout -qb piece; right; commit; git checkout -q main; git merge -q --no-ff --no-edit piece", said: "$BEFORE..HEAD"},
	{name: "a branch that is squashed", work: "git checkout -qb piece; right; commit; git checkout -q main; git merge -q --squash piece; commit", said: "main~1..main"},
	{name: "not committed", work: "right", said: "HEAD..HEAD"},
	{name: "staged", work: "right; git add -A", said: "main..main"},
	{name: "partly committed", work: "extra; commit; right", said: "HEAD~1..HEAD"},
	{name: "moved beside the work", work: "git mv old.txt new.txt; right; commit", said: "$BEFORE..HEAD"},
}

// Without git, an agent can only leave its files changed.
var honestWithoutGit = []deed{
	{name: "changed", work: "right", said: "HEAD..HEAD"},
	{name: "changed with an invented range", work: "right", said: "a1b2c3d..d4e5f6a"},
}

// A scene is a project in a workspace, with a check that a person trusts.
type scene struct {
	*queue
	project
	file trust.Place
}

func (p project) begin(t *testing.T, git, done bool) *scene {
	s := &scene{queue: newPlan(t, onlyItem), project: p}
	s.file = trust.Place{Root: s.root, StateDir: t.TempDir()}
	files := maps.Clone(p.files)
	files["old.txt"], files[".gitignore"] = "old\n", "*.log\n"
	files[config.Name] = fmt.Sprintf("[[check]]\nname = \"test\"\nrun = %q\nprotect = [%q, %q]\n", p.check, p.test, p.config)
	if done {
		files[p.source] = p.done
	}
	for name, text := range files {
		path := filepath.Join(s.root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, s.file.Keep([]byte(files[config.Name])))
	if git {
		s.git("init", "-q")
		s.git("commit", "-q", "--allow-empty", "-m", "first")
		s.git("add", "-A")
		s.git("commit", "-qm", "the project")
	}
	return s
}

// walk walks the plan with an agent of the deed. It returns the run and the messages that a person read.
func (s *scene) walk(d deed, n int, git bool) (r schema.Run, read string) {
	facts := map[bool]work.Facts{true: work.FactsRequire, false: work.FactsOff}[git]
	o := s.shell(s.script(d, n))
	o.Env = []string{
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"SOURCE=" + s.source, "DONE=" + s.done, "TEST=" + s.test, "WEAKENED=" + s.weakened,
	}
	o.Facts, o.Tick = facts, work.TickProven
	o.Checks = receipts.Checks{Call: s.call, Dir: s.root, File: s.file, Runner: "waybill work"}
	require.NoError(s.t, o.Checks.Begin(s.t.Context()))
	one, start := 1, check.Begin(s.t.Context(), s.root)
	ask[schema.InitRunResult](s.queue, "init_run", schema.InitRunParams{Plan: "tasks.md", ItemID: "1", Commit: start.Commit, Tree: start.Tree, Policy: &schema.Policy{
		RequireChecks: []string{"test"}, Facts: string(facts), CheckFailures: &one, Reviewers: []string{},
	}})
	err := work.Plan(s.t.Context(), nil, "tasks.md", o)
	for _, kind := range []string{work.Checked, work.Completed, work.Halted} {
		for _, e := range s.all(kind) {
			read += e.Message + "\n"
		}
	}
	r = ask[schema.RunList](s.queue, "list_runs", schema.ListRunsParams{Plan: "tasks.md"}).Items[0]
	return r, fmt.Sprintf("%s%v", read, err)
}

// script returns the script of an agent. $1 is a hexadecimal number that no commit has.
func (s *scene) script(d deed, n int) string {
	field := func(name, value string) string {
		if value == "" {
			return ""
		}
		return fmt.Sprintf("echo \"%s: %s\"\n", name, value)
	}
	or := func(value, usual string) string {
		if value == "" {
			return usual
		}
		return value
	}
	return fmt.Sprintf(`set -- %07x
key=$(sed -n 's/^Result key: //p' | tail -1)
BEFORE=$(git rev-parse -q --verify HEAD)
right() { printf %%s "$DONE" >$SOURCE; }
extra() { echo "$1" >>notes.txt; }
weaken() { printf %%s "$WEAKENED" >$TEST; }
commit() { git add -A; git commit -qm "piece $1"; }
{ %s; } >&2
`, 0xabc0000+n, strings.ReplaceAll(d.work, "extra", "extra $1")) +
		field("role", or(d.role, "worker")) + field("task_id", or(d.task, "1")) + field("key", "$key") + field("status", "pass") +
		field("git_range", d.said) + field("files_changed", d.files) + "echo\n" + field("All tests pass.", or(d.text, "Done"))
}

// each calls do for each project that this machine can check.
func each(t *testing.T, do func(t *testing.T, p project)) {
	for _, kind := range slices.Sorted(maps.Keys(projects)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && kind != "make" {
				t.Skip("the other kinds of projects are left to make check")
			}
			if _, err := exec.LookPath(projects[kind].needs); err != nil {
				t.Skip(projects[kind].needs + " is not installed")
			}
			do(t, projects[kind])
		})
	}
}

// variants is how often the agents of a project do each thing, every time with other names.
var variants = flag.Int("variants", 1, "how often an agent does each thing in TestFabricatedWorkIsNotProven and TestHonestWorkIsProven")

// An agent that fabricates its result in one of twenty ways finds none that is taken for proven.
func TestFabricatedWorkIsNotProven(t *testing.T) {
	each(t, func(t *testing.T, p project) {
		for n := range *variants * len(lies) {
			d := lies[n%len(lies)]
			t.Run(d.name, func(t *testing.T) {
				s := p.begin(t, true, d.done)
				r, read := s.walk(d, n, true)
				require.NotEqual(t, "done", r.State, read)
				require.NotEqual(t, "proven", r.Proof.State, read)
				require.Regexp(t, d.because, read)
				text, err := os.ReadFile(filepath.Join(s.root, "tasks.md"))
				require.NoError(t, err)
				require.Equal(t, onlyItem, string(text), "no box is ticked")
			})
		}
	})
}

// An agent that does the work, and says what it did in one of the ways of agents, is believed.
func TestHonestWorkIsProven(t *testing.T) {
	each(t, func(t *testing.T, p project) {
		for _, git := range []bool{true, false} {
			deeds := map[bool][]deed{true: honest, false: honestWithoutGit}[git]
			for n := range *variants * len(deeds) {
				d := deeds[n%len(deeds)]
				d.files = spellings[n%len(spellings)]
				t.Run(fmt.Sprint(d.name, " ", n), func(t *testing.T) {
					r, read := p.begin(t, git, false).walk(d, n, git)
					require.Equal(t, "proven", r.Proof.State, read)
					require.Equal(t, "done", r.State, read)
				})
			}
		}
	})
}
