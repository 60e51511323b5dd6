package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/audit"
	"waybill/core/verdict"
	"waybill/test/golden"
)

// looked is what git shows about honest work: two commits on the present branch, and a file that is not committed.
func looked(change ...func(*audit.Seen)) audit.Seen {
	s := audit.Seen{
		Root: "/home/a/clock", Base: "c1", Head: "c3", Present: "c3", Ordered: true, Reached: true,
		Range: []string{"main.go", "face/dial.go"}, Changed: []string{"notes.md", "main.go", "face/dial.go", "vendored/"}, Ignored: []string{"dist/app.js"},
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func TestFactsMatrix(t *testing.T) {
	const c1c3 = "c1..c3"
	shallow := func(s *audit.Seen) { s.Shallow = true }
	noBase, noHead := func(s *audit.Seen) { s.Base = "" }, func(s *audit.Seen) { s.Head = "" }
	same := func(s *audit.Seen) { s.Base, s.Same, s.Changed = s.Head, true, nil }
	uncommitted := func(s *audit.Seen) { s.Base = s.Head }
	unborn := func(s *audit.Seen) { s.Base, s.Head, s.Present = "", "", "" }
	var b strings.Builder
	for _, row := range []struct {
		name, gitRange string
		files          []string
		seen           audit.Seen
	}{
		{"commits with their files", c1c3, []string{"main.go", "face/dial.go"}, looked()},
		{"commits without files", c1c3, nil, looked()},
		{"no commit with the name of the base", c1c3, nil, looked(noBase)},
		{"no commit with the name of the head", c1c3, nil, looked(noHead)},
		{"the same in a shallow repository", c1c3, nil, looked(noBase, shallow)},
		{"a commit of another branch", c1c3, nil, looked(func(s *audit.Seen) { s.Reached = false })},
		{"the ends are swapped", c1c3, nil, looked(func(s *audit.Seen) { s.Ordered = false })},
		{"commits from before the work", c1c3, nil, looked(func(s *audit.Seen) { s.Old = true })},
		{"an empty commit", c1c3, nil, looked(func(s *audit.Seen) { s.Range = nil })},
		{"not committed", "HEAD..HEAD", []string{"notes.md"}, looked(uncommitted)},
		{"not committed, without a range", "", []string{"notes.md"}, looked(noBase, noHead)},
		{"not committed, in a repository without commits", "HEAD..HEAD", []string{"notes.md"}, looked(unborn)},
		{"one commit named twice, which there is not", "c9..c9", nil, looked(noBase, noHead)},
		{"two names of one commit", "main..HEAD", nil, looked(uncommitted)},
		{"nothing has changed", "HEAD..HEAD", nil, looked(same)},
		{"nothing has changed, without a range", "", nil, looked(same, noBase, noHead)},
		{"nothing has changed, and a worker was told", "HEAD..HEAD", nil, looked(same, func(s *audit.Seen) { s.Told = true })},
		{"nothing has changed, a worker was told, and names files", "HEAD..HEAD", []string{"main.go"}, looked(same, func(s *audit.Seen) { s.Told, s.Range = true, nil })},
		{"files that have not changed", c1c3, []string{"main.go", "ghost.go", "face/ghost.go"}, looked()},
		{"many files that have not changed", c1c3, strings.Fields("a b c d e f g h i j"), looked()},
		{"files outside", c1c3, []string{"../etc/passwd", "/etc/passwd", `C:\windows\x`, "a/../../b"}, looked()},
		{"nothing is true", "x..y", []string{"ghost.go", "../up"}, looked(noBase, noHead)},
		{"a name that is no text", c1c3, []string{"a\x1b[31m\n" + strings.Repeat("é", 100)}, looked()},
	} {
		outcome, wrong := audit.Facts(audit.Said{GitRange: row.gitRange, Files: row.files}, row.seen)
		fmt.Fprintf(&b, "%s: %s\n", row.name, outcome)
		for line := range strings.Lines(audit.FormatFalse(wrong)) {
			b.WriteString("  " + line)
		}
		require.Equal(t, wrong, audit.ParseFalse(audit.FormatFalse(wrong)), row.name)
	}
	golden.Equal(t, "facts.golden", b.String())
}

// Entries as agents write them. Those of the second list have not changed.
func TestFilesAsAgentsNameThem(t *testing.T) {
	seen := looked(func(s *audit.Seen) {
		s.Prefix, s.Range = "apps/clock/", append(s.Range, "a b.txt", "new file.go", "old.go", "docs/one.md")
	})
	for _, entry := range []string{
		"main.go", "./main.go", "`main.go`", "'main.go'", `"main.go"`, "**main.go**", "main.go:12", "main.go:12-40", "`main.go:12`", "main.go (new)",
		"main.go - the entry", "main.go – the entry", "main.go: adds the entry", "modified: main.go", "Modified main.go", "M main.go", "A  main.go",
		"new: main.go (30 lines)", "deleted old.go", "old.go -> main.go", "ghost.go → main.go", "`ghost.go` => `main.go`", "renamed ghost.go to main.go",
		"face", "face/", "face/**", "face/*.go", "face/*", ".", "./", "/home/a/clock/main.go", "/home/a/clock/face/", "apps/clock/main.go", `face\dial.go`,
		"a b.txt", "new file.go", "dist/app.js", "vendored/deep/file.go", "main.go [new]", "main.go # entry", "docs/one.md, ",
	} {
		_, wrong := audit.Facts(audit.Said{GitRange: "c1..c3", Files: []string{strings.TrimSuffix(entry, ", ")}}, seen)
		require.Empty(t, wrong, entry)
	}
	for _, entry := range []string{
		"ghost.go", "main", "main.go.bak", "ain.go", "face/dial", "fac", "src/main.go", "dial.go", "MAIN.GO", "/home/a/clockwork/main.go", "..", "main.go/..x", "?", "-",
	} {
		_, wrong := audit.Facts(audit.Said{GitRange: "c1..c3", Files: []string{entry}}, seen)
		require.Len(t, wrong, 1, entry)
	}
}

func TestSentencesThatSayThatTestsRan(t *testing.T) {
	tested := func(text string) string { return audit.SaidIn(verdict.Result{Body: text}).Tested }
	for _, text := range []string{
		"All tests pass.", "all tests passed", "The tests now pass.", "Tests are green.", "The test suite is green", "I ran the tests.", "Ran all unit tests and they pass.",
		"Verified with the existing test suite.", "12 tests passed", "34/34 tests passing", "12 passed", "Zero failures.", "`go test ./...` passes.", "npm test: 40 passed, ok",
		"pytest passes", "cargo test is ok", "The specs pass", "Done. Everything compiles. All checks pass.", "re-ran the full suite",
	} {
		if text == "12 passed" {
			continue // of what?
		}
		require.NotEmpty(t, tested(text), text)
	}
	for _, text := range []string{
		"", "I wrote the dial.", "Tests were not run.", "I did not run the tests.", "I couldn't run the tests.", "No tests were run.", "The tests should pass now.",
		"Please make sure all tests pass.", "The tests fail.", "The test suite failed", "Added tests for the dial.", "without running tests", "Tests will be run by CI.",
		"If the tests pass, merge it.", "Skipped: tests pass only on CI", "It passes the value to the tester.", "the latest pass",
	} {
		require.Empty(t, tested(text), text)
	}
	require.Equal(t, "I ran the tests.", tested("I wrote it.\nGood. I ran the tests. They pass."))
	require.LessOrEqual(t, len(tested("I ran the tests "+strings.Repeat("é", 1000))), 120)
}

func TestToolCallsAsHostsReportThem(t *testing.T) {
	for _, row := range []struct {
		event, data string
		want        audit.Tool
	}{
		{"tool", `{"tool_name":"Bash","tool_input":{"command":"go test ./...","description":"x"},"tool_response":{"stdout":"ok"}}`, audit.Tool{Name: "Bash", Command: "go test ./..."}},
		{"tool_failed", `{"tool_name":"Bash","tool_input":{"command":"make"},"error":"exit 2"}`, audit.Tool{Name: "Bash", Command: "make", Failed: true}},
		{"tool.execute.after", `{"tool":"bash","args":{"command":"npm test"},"output":{"metadata":{"exit":0}}}`, audit.Tool{Name: "bash", Command: "npm test"}},
		{"exec_command_end", `{"msg":{"command":["bash","-lc","cd a && go test"],"exit_code":1}}`, audit.Tool{Command: "bash -lc 'cd a && go test'", Failed: true}},
		{"session/update", `{"tool":"edit","rawInput":{"path":"a.go"}}`, audit.Tool{Name: "edit"}},
		{"tool", `{"tool_name":"Read","is_error":false}`, audit.Tool{Name: "Read"}},
		{"tool", ``, audit.Tool{}},
		{"tool", `[1]`, audit.Tool{}},
	} {
		got, ok := audit.ToolIn(row.event, row.data)
		require.True(t, ok, row.data)
		require.Equal(t, row.want, got, row.data)
	}
	for _, event := range []string{"said", "idle", "message.updated", "tests.passed"} {
		_, ok := audit.ToolIn(event, `{"text":"I ran go test","info":{"role":"assistant"}}`)
		require.False(t, ok, event)
	}
	_, ok := audit.ToolIn("tool", `{"self_reported":true,"tool_name":"Bash","tool_input":{"command":"go test"}}`)
	require.False(t, ok, "an agent is no witness of itself")
	long, _ := audit.ToolIn("tool", `{"command":"`+strings.Repeat("é", 2000)+`"}`)
	require.LessOrEqual(t, len(long.Command), 1024)
	deep, _ := audit.ToolIn("tool", strings.Repeat(`{"a":`, 50)+`{"command":"x"}`+strings.Repeat("}", 50))
	require.Empty(t, deep.Command)
}

// A log is a log of events that a test writes.
type log []audit.Event

func (l *log) add(at core.Instant, kind core.EventType, subject, data string, args ...any) {
	*l = append(*l, audit.Event{Seq: int64(len(*l) + 1), At: at * 1_000_000, Type: kind, Subject: subject, Data: fmt.Sprintf(data, args...)})
}

// works adds a run with one attempt of a worker from second 10 to 70, its tool calls, and its pass.
func (l *log) works(run string, said string, tools ...string) {
	l.add(10, core.RunStarted, run, `{"plan":"tasks.md","item_id":%q,"start":{"commit":"c1","tree":"t1"}}`, run)
	l.add(10, core.AttemptStarted, "tsk_"+run, `{"attempt_id":"att_%s","run_id":%q}`, run, run)
	for _, tool := range tools {
		l.add(20, core.ToolReported, "tsk_"+run, `{"attempt_id":"att_%s","run_id":%q,%s}`, run, run, tool)
	}
	l.add(70, core.AttemptFinished, "tsk_"+run, `{"attempt_id":"att_%s","attempt_status":"completed","run_id":%q}`, run, run)
	l.add(70, core.RunOutcome, run, `{"plan":"tasks.md","item_id":%q,"role":"worker","verdict":"pass","task_id":"tsk_%s","attempt_id":"att_%s","said":{%s}}`, run, run, run, said)
}

const (
	honest = `"git_range":"c1..c3","files_changed":["main.go"]`
	tested = honest + `,"tested":"All tests pass."`
	named  = honest + `,"tests":["go test ./..."]`
	reads  = `"tool":"Read"`
	runsGo = `"tool":"Bash","command":"cd /w && go test -race ./... | tail"`
	runs   = `"tool":"Bash","command":"npm run test:unit"`
	builds = `"tool":"Bash","command":"go build ./..."`
	fails  = builds + `,"failed":true`
)

func TestFlagsMatrix(t *testing.T) {
	red := func(l *log, check, output string) {
		l.add(80, core.ReceiptRecorded, "r", `{"check":%q,"outcome":"red","output":%q}`, check, output)
	}
	var b strings.Builder
	for _, row := range []struct {
		name  string
		write func(l *log)
	}{
		{"honest work, no tool events", func(l *log) { l.works("r", tested) }},
		{"honest work, tool events", func(l *log) { l.works("r", tested, reads, runsGo) }},
		{"names a test that ran", func(l *log) { l.works("r", named, runsGo) }},
		{"names a test, and another one ran", func(l *log) { l.works("r", named, runs) }},
		{"says tested, and no tests ran", func(l *log) { l.works("r", tested, reads, builds) }},
		{"says tested, and some ran", func(l *log) { l.works("r", tested, runs) }},
		{"says nothing of tests", func(l *log) { l.works("r", honest, reads) }},
		{"no tool call, of a host that reports them", func(l *log) { l.works("other", honest, reads); l.works("r", tested) }},
		{"no tool call of a reviewer, whose host reports none", func(l *log) {
			l.works("r", honest, reads)
			l.add(71, core.AttemptStarted, "tsk_2", `{"attempt_id":"att_2","run_id":"r"}`)
			l.add(90, core.AttemptFinished, "tsk_2", `{"attempt_id":"att_2","attempt_status":"completed","run_id":"r"}`)
			l.add(90, core.RunOutcome, "r", `{"plan":"tasks.md","item_id":"r","role":"spec-reviewer","verdict":"pass","task_id":"tsk_2","attempt_id":"att_2"}`)
		}},
		{"a host without tasks", func(l *log) {
			l.add(1, core.RunOutcome, "r", `{"plan":"tasks.md","item_id":"r","role":"worker","verdict":"pass","said":{}}`)
		}},
		{"within a second", func(l *log) {
			l.add(10, core.AttemptStarted, "tsk", `{"attempt_id":"a","run_id":"r"}`)
			l.add(10, core.AttemptFinished, "tsk", `{"attempt_id":"a","attempt_status":"completed","run_id":"r"}`)
			l.add(10, core.RunOutcome, "r", `{"plan":"tasks.md","item_id":"r","role":"worker","verdict":"pass","task_id":"tsk","attempt_id":"a"}`)
		}},
		{"its facts were false", func(l *log) {
			l.works("r", honest)
			red(l, "facts", "git_range: no such commit.\nfiles_changed: no such file.\n")
		}},
		{"nothing had changed", func(l *log) {
			l.works("r", honest)
			l.add(80, core.ReceiptRecorded, "r", `{"check":"facts","outcome":"protected","output":"changes: nothing.\n"}`)
		}},
		{"its facts were false, and those of the next pass hold", func(l *log) {
			l.works("r", honest)
			red(l, "facts", "git_range: no such commit.\n")
			l.works("r", honest)
			l.add(80, core.ReceiptRecorded, "r", `{"check":"facts","outcome":"green","output":"fine"}`)
		}},
		{"a check failed in the same way again", func(l *log) {
			red(l, "test", "FAIL dial 0.12s")
			red(l, "lint", "x")
			red(l, "test", "FAIL dial 3.40s")
		}},
		{"a check failed in different ways", func(l *log) { red(l, "test", "FAIL dial"); red(l, "test", "FAIL hands") }},
		{"a command failed twice", func(l *log) { l.works("r", honest, fails, fails) }},
		{"a command failed three times", func(l *log) { l.works("r", honest, fails, fails, fails) }},
		{"attempts failed with the same error", func(l *log) {
			for n := range 2 {
				l.add(10, core.AttemptFinished, "tsk", `{"attempt_id":"a%d","attempt_status":"error","run_id":"r","error":"quota, ask %d"}`, n, n)
			}
		}},
		{"an event that cannot be read", func(l *log) { l.add(1, core.RunOutcome, "r", `{"plan":3`) }},
	} {
		var l log
		row.write(&l)
		b.WriteString(row.name + ":\n")
		for _, w := range audit.Read(l) {
			for _, f := range audit.Flags(w) {
				fmt.Fprintf(&b, "  %s %s %s %s: %s %v\n", w.Run, f.Kind, f.Role, f.Task, f.Text, f.Events)
			}
		}
	}
	golden.Equal(t, "flags.golden", b.String())
}

// Facts that a caller looked at later are flagged, too, and work that names no commits.
func TestFlagsOfFactsThatWereLookedAtLater(t *testing.T) {
	var l log
	l.works("r", `"git_range":"HEAD..HEAD"`)
	works := audit.Read(l)
	require.Empty(t, audit.Flags(works[0]))
	require.Equal(t, audit.Start{Commit: "c1", Tree: "t1"}, works[0].Start)
	p := &works[0].Passes[0]
	p.Looked, p.False = true, []audit.FalseFact{{Fact: audit.FactFiles, Text: "no"}}
	flags := audit.Flags(works[0])
	require.Len(t, flags, 2)
	require.Equal(t, audit.NoRange, flags[0].Kind)
	require.Equal(t, audit.FilesNotChanged, flags[1].Kind)
}
