package play_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

func TestMistakesInAScriptSayWhereAndWhatIsAllowed(t *testing.T) {
	for line, says := range map[string]string{
		`2.1 worker`:                         `found 2 fields; allowed: ITEM ROLE TRY BEHAVIOUR [argument]`,
		`2.1 worker 1`:                       `found 3 fields; allowed: ITEM ROLE TRY BEHAVIOUR [argument]`,
		`2.1 reviewer 1 good`:                `found the role "reviewer"; allowed: worker, spec-reviewer, code-quality-reviewer or *`,
		`2.1 worker 0 good`:                  `found the try "0"; allowed: a number from 1, or *`,
		`2.1 worker one good`:                `found the try "one"; allowed: a number from 1, or *`,
		`2.1 worker 1 godo`:                  `found the behaviour "godo"; allowed: good, good-block, fenced, `,
		`2.1 worker 1 good x`:                `found the argument "x" of good; allowed: no argument`,
		`2.1 worker 1 gaps`:                  `found no argument of gaps; allowed: issues on one line, separated by ";", in double quotes`,
		`2.1 worker 1 gaps " ; "`:            `found the argument " ; " of gaps; allowed: issues on one line`,
		`2.1 worker 1 gaps one; two`:         `found "two" behind the argument; allowed: ITEM ROLE TRY BEHAVIOUR [argument]; an argument with spaces is in double quotes`,
		`2.1 worker 1 error "a\nb"`:          `found the argument "a\nb" of error; allowed: text on one line, in double quotes`,
		`2.1 worker 1 error ""`:              `found the argument "" of error; allowed: text on one line`,
		`2.1 worker 1 error "a`:              `found the quotation "a; allowed: text in double quotes with white space behind it`,
		`2.1 worker 1 error "a"b`:            `found the quotation "a"b; allowed: text in double quotes with white space behind it`,
		`2.1 worker 1 question`:              `found no argument of question; allowed: text on one line`,
		`2.1 worker 1 reject "x"`:            `found reject for the role "worker"; allowed: spec-reviewer or code-quality-reviewer: only a reviewer can do that`,
		`2.1 * 1 reject "x"`:                 `found reject for the role "*"; allowed: spec-reviewer or code-quality-reviewer: only a reviewer can do that`,
		`2.1 worker 1 huge`:                  `found no argument of huge; allowed: a number of bytes from 0 to 1073741824`,
		`2.1 worker 1 huge 1MB`:              `found the argument "1MB" of huge; allowed: a number of bytes from 0 to 1073741824`,
		`2.1 worker 1 huge 1073741825`:       `found the argument "1073741825" of huge; allowed: a number of bytes from 0 to 1073741824`,
		`2.1 worker 1 crash 0`:               `found the argument "0" of crash; allowed: an exit code from 1 to 255, or nothing for 3`,
		`2.1 worker 1 crash 256`:             `found the argument "256" of crash; allowed: an exit code from 1 to 255, or nothing for 3`,
		`2.1 worker 1 slow`:                  `found no argument of slow; allowed: a duration such as 30s or 1m30s`,
		`2.1 worker 1 slow 5`:                `found the argument "5" of slow; allowed: a duration such as 30s or 1m30s`,
		`2.1 worker 1 slow -5s`:              `found the argument "-5s" of slow; allowed: a duration such as 30s or 1m30s`,
		`2.1 worker 1 gaps "#1" and # notes`: `found "and" behind the argument`,
	} {
		script := scripted(t, "# comment", "", line, "* * * good")
		got := ask(prompt(t, core.Worker, item), script)
		require.Equal(t, 2, got.exit, line)
		require.Empty(t, got.stdout, line)
		require.True(t, strings.HasPrefix(got.stderr, "fake-agent: "+strings.TrimPrefix(script, "--script=")+":3: "+says), "%s: %s", line, got.stderr)
	}
}

func TestAllMistakesInAScriptAreToldAtOnce(t *testing.T) {
	got := ask(prompt(t, core.Worker, item), scripted(t, "2.1 worker 1 godo", "* * * good", "2.1 worker x good"))
	require.Equal(t, 2, strings.Count(got.stderr, "; allowed: "))
	require.Contains(t, got.stderr, ":1: ")
	require.Contains(t, got.stderr, ":3: ")
}

func TestTheFirstLineThatFitsCounts(t *testing.T) {
	script := scripted(t,
		"\uFEFF# a comment\r",
		"\t2.1  worker\t2 empty # a comment\r",
		`"2.1" worker * gaps "not # a comment" # but this is`,
		`"#5" * * error one-word`,
		"2.10 * 3 garbage",
		"* spec-reviewer 1 legacy-fail",
		"2.1 * * good-block",
		"\r",
	)
	for _, c := range []struct {
		item string
		role core.Role
		try  int
		want verdict.Verdict
		by   verdict.Grammar
	}{
		{"2.1", core.Worker, 1, verdict.Gaps, verdict.V2},
		{"2.1", core.Worker, 2, verdict.Invalid, verdict.None},
		{"2.1", core.Worker, 3, verdict.Gaps, verdict.V2},
		{"2.1", core.SpecReviewer, 1, verdict.Gaps, verdict.Legacy},
		{"2.1", core.SpecReviewer, 2, verdict.Pass, verdict.JSONBlock},
		{"2.10", core.Worker, 2, verdict.Pass, verdict.V2},
		{"2.10", core.Worker, 3, verdict.Invalid, verdict.None},
		{"#5", core.CodeQualityReviewer, 1, verdict.Error, verdict.V2},
		{"9", core.Worker, 1, verdict.Pass, verdict.V2},
	} {
		got := ask("", script, "--role="+c.role.String(), "--task="+c.item, "--try="+strconv.Itoa(c.try))
		require.Empty(t, got.stderr)
		j := verdict.Judge(got.stdout, verdict.Asked{Role: c.role, ItemID: c.item})
		require.Equal(t, c.want, j.Verdict, "%+v: %s", c, got.stdout)
		require.Equal(t, c.by, j.Grammar, "%+v: %s", c, got.stdout)
	}
}

func TestWithoutAMemoryItIsAlwaysTheFirstTry(t *testing.T) {
	p, script := prompt(t, core.Worker, item), scripted(t, "2.1 worker 1 empty")
	for range 2 {
		require.Empty(t, ask(p, script).stdout)
	}
	require.NotEmpty(t, ask(p, script, "--try=2").stdout)
	require.NotEmpty(t, ask(p, "--script=-").stdout)
}

func TestTheMemoryCountsEachRoleAndItemByItself(t *testing.T) {
	memory := filepath.Join(t.TempDir(), "not", "made", "yet")
	script := scripted(t, "* * 1 empty", "* * 2 garbage", "* * 3 crash")
	for _, id := range []string{"2.1", "2.10", "2.1a", "2.1A", "a/b", "a_b", "..", strings.Repeat("x", 300)} {
		for _, role := range everyRole {
			args := []string{script, "--memory=" + memory, "--role=" + role.String(), "--task=" + id}
			require.Empty(t, ask("", args...).stdout, "%s %s", role, id)
			require.Contains(t, ask("", args...).stdout, "Sure!", "%s %s", role, id)
			require.Equal(t, 3, ask("", args...).exit, "%s %s", role, id)
			require.Contains(t, ask("", args...).stdout, "status: pass", "%s %s", role, id)
		}
	}
	files, err := os.ReadDir(memory)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, f := range files {
		names[strings.ToLower(f.Name())] = true
	}
	require.Len(t, names, 8*3, "no two share a file, also where letter case does not count")
}

func TestParallelAgentsLoseNoCount(t *testing.T) {
	const agents = 16
	memory := t.TempDir()
	var lines []string
	for n := 1; n <= agents; n++ {
		lines = append(lines, "2.1 worker "+strconv.Itoa(n)+" crash "+strconv.Itoa(100+n))
	}
	p, script := prompt(t, core.Worker, item), scripted(t, lines...)
	exits := make(chan int, agents)
	var all sync.WaitGroup
	for range agents {
		all.Go(func() { exits <- ask(p, script, "--memory="+memory).exit }) // ends with its agent
	}
	all.Wait()
	close(exits)
	seen := map[int]bool{}
	for exit := range exits {
		require.False(t, seen[exit], "two agents were try %d", exit-100)
		seen[exit] = true
	}
	for n := 1; n <= agents; n++ {
		require.True(t, seen[100+n], "nobody was try %d", n)
	}
}

func TestAMemoryThatCannotBeWrittenIsAFailure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	got := ask(prompt(t, core.Worker, item), "--memory="+file)
	require.Equal(t, 1, got.exit)
	require.Empty(t, got.stdout)
	require.Contains(t, got.stderr, "fake-agent: count in the memory: ")
}
