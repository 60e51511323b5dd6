package check_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/audit"
)

// A project is a repository of a kind that agents work on.
type project struct {
	folder
	random *rand.Rand
	files  []string
	n      int
}

var kinds = map[string][]string{
	"go":     {"go.mod", "main.go", "internal/dial/dial.go", "internal/dial/dial_test.go", "docs/dial.md"},
	"node":   {"package.json", "src/index.ts", "src/lib/dial.ts", "test/dial.test.ts", "README.md"},
	"python": {"pyproject.toml", "clock/__init__.py", "clock/dial.py", "tests/test_dial.py", "setup.cfg"},
	"make":   {"Makefile", "src/dial.c", "include/dial.h", "t/dial.sh", "doc/dial.1"},
}

func newProject(t *testing.T, kind string) *project {
	f := repository(t)
	p := &project{folder: f, random: rand.New(rand.NewPCG(22, uint64(len(kind)))), files: kinds[kind]}
	for _, name := range p.files {
		f.write(name, name+"\n")
	}
	f.git("add", "-A")
	f.git("commit", "-qm", "the project")
	return p
}

func pick[T any](p *project, list ...T) T { return list[p.random.IntN(len(list))] }

// change changes up to three files, and returns their names.
func (p *project) change() (names []string) {
	for _, i := range p.random.Perm(len(p.files))[:1+p.random.IntN(3)] {
		p.n++
		name := p.files[i]
		if p.random.IntN(4) == 0 {
			name = fmt.Sprintf("%s/new %d%s", filepath.ToSlash(filepath.Dir(name)), p.n, filepath.Ext(name))
		}
		p.write(name, fmt.Sprintln("change", p.n))
		names = append(names, name)
	}
	return names
}

func (p *project) commitAll() {
	p.git("add", "-A")
	p.git("commit", "-qm", fmt.Sprint("piece ", p.n))
}

// told returns names of files as an agent writes them.
func (p *project) told(names []string) (told []string) {
	how := pick(p, "%s", "%s", "%s", "./%s", "`%s`", "%s (new)", "modified: %s", "%s:10-20", p.dir+"/%s")
	for _, name := range names {
		told = append(told, fmt.Sprintf(how, name))
	}
	return told
}

// An honest agent works in one of the ways in which agents work, and says what it did in one of the ways in which they say it.
func (p *project) honest() (said audit.Said) {
	before := p.head()
	names := p.change()
	switch p.random.IntN(8) {
	case 0, 1, 2:
		p.commitAll()
		said.GitRange = pick(p, "HEAD~1..HEAD", "HEAD^..HEAD", before+"..HEAD", before+".."+p.head(), before[:7]+".."+p.head()[:10], before+"..main", "@~..@")
	case 3:
		p.commitAll()
		names = append(names, p.change()...)
		p.commitAll()
		said.GitRange = pick(p, "HEAD~2..HEAD", before+"..HEAD", "HEAD~1..HEAD")
	case 4:
		p.commitAll()
		names = append(names, p.change()...)
		p.git("add", "-A")
		p.git("commit", "-q", "--amend", "--no-edit")
		said.GitRange = before + ".." + p.head()
	case 5:
		p.git("checkout", "-qb", fmt.Sprint("piece", p.n))
		p.commitAll()
		p.git("checkout", "-q", "main")
		p.git("merge", "-q", pick(p, "--ff-only", "--no-ff", "--squash"), fmt.Sprint("piece", p.n))
		if p.head() == before { // squashed
			p.commitAll()
		}
		said.GitRange = before + "..HEAD"
	case 6:
		said.GitRange = pick(p, "HEAD..HEAD", "", before+".."+before, "main..main")
	case 7:
		old := pick(p, p.files...)
		p.git("add", "-A")
		p.git("mv", old, old+".moved")
		names = []string{old + " -> " + old + ".moved"}
		p.git("commit", "-qm", "move")
		p.git("mv", old+".moved", old)
		said.GitRange = before + "..HEAD"
	}
	said.Files = p.told(names)
	if p.random.IntN(5) == 0 {
		said.Files = nil
	}
	if strings.Contains(strings.Join(said.Files, ""), " -> ") {
		said.Files = names
	}
	return said
}

func TestHonestWorkIsNotRefused(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, kind)
			for range 25 {
				start := p.begin()
				said := p.honest()
				r := p.facts(start, said.GitRange, said.Files...)
				require.Equal(t, "green", r.Outcome, "%+v: %s", said, r.Output)
			}
		})
	}
}

// fabricate does not do the work, or less of it, and returns what a lying agent says.
func (p *project) fabricate(lie int) (said audit.Said) {
	hex := func() string { return fmt.Sprintf("%010x", p.random.Uint64())[:7+p.random.IntN(3)] }
	before := p.head()
	old := pick(p, p.files...)
	switch lie {
	case 0: // invented commits
		return audit.Said{GitRange: hex() + ".." + hex(), Files: []string{old}}
	case 1: // an invented head behind a true base, with true work that is not committed
		return audit.Said{GitRange: "HEAD.." + hex(), Files: p.change()}
	case 2: // commits of others
		return audit.Said{GitRange: "HEAD~1..HEAD"}
	case 3: // a commit of another branch
		p.git("checkout", "-qB", "elsewhere")
		names := p.change()
		p.commitAll()
		p.git("checkout", "-q", "main")
		return audit.Said{GitRange: "main..elsewhere", Files: names}
	case 4: // an empty commit
		p.git("commit", "-q", "--allow-empty", "-m", "all done")
		return audit.Said{GitRange: before + "..HEAD"}
	case 5: // nothing
		return audit.Said{GitRange: pick(p, "HEAD..HEAD", "", "main..main")}
	case 6: // files that did not change, beside one that did
		names := p.change()
		p.commitAll()
		return audit.Said{GitRange: before + "..HEAD", Files: append(names, fmt.Sprint("src/invented", p.n, ".go"))}
	case 7: // a file outside
		names := p.change()
		p.commitAll()
		return audit.Said{GitRange: before + "..HEAD", Files: append(names, "../../etc/hosts")}
	case 8: // a commit and its revert
		p.change()
		p.commitAll()
		p.git("revert", "--no-edit", "HEAD")
		return audit.Said{GitRange: before + "..HEAD", Files: []string{old}}
	}
	p.write("build.log", "only an ignored file")
	return audit.Said{GitRange: "HEAD..HEAD"}
}

func TestFabricatedWorkIsRefused(t *testing.T) {
	const lies, each = 10, 5
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, kind)
			p.git("commit", "-q", "--allow-empty", "-m", "a second commit")
			for n := range lies * each {
				p.git("add", "-A")
				p.git("commit", "-q", "--allow-empty", "-m", "what was left")
				start := p.begin()
				said := p.fabricate(n % lies)
				r := p.facts(start, said.GitRange, said.Files...)
				require.Equal(t, "red", r.Outcome, "lie %d: %+v", n%lies, said)
				require.NotEmpty(t, r.Output)
			}
		})
	}
}
