package play_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/test/fakeagent/play"
	"waybill/test/golden"
)

// arguments are what the behaviours are given here.
var arguments = map[string]string{
	`"issue; issue"`: `"the minute hand is missing; there is no test for midnight"`,
	`"reason"`:       `"the font cannot be read"`,
	`"text"`:         `"Roman or Arabic numerals?"`,
	"N":              "100000",
	"[CODE]":         "", // the usual one
	"DURATION":       "1m30s",
}

// shown plays a behaviour. A wait is over at once, or stopped if it has no end.
func shown(t *testing.T, b play.Behaviour, role core.Role) (answer, bool) {
	t.Helper()
	over := make(chan time.Time)
	close(over)
	stop := make(chan os.Signal, 1)
	if b.Name == "hang" {
		stop <- syscall.SIGTERM
	}
	line := fmt.Sprintf("* %s * %s %s", role, b.Name, arguments[b.Argument])
	got := perform(play.Options{
		Args:  []string{scripted(t, line)},
		After: func(time.Duration) <-chan time.Time { return over },
		Stop:  stop,
	}, compiled(t, role, item))
	return got, got.exit != 2
}

// The table says what waybill makes of each behaviour, and how the agent exits.
func TestBehavioursAreJudgedAsTheyAreMeant(t *testing.T) {
	var b strings.Builder
	for _, behaviour := range play.Behaviours() {
		for _, role := range everyRole {
			got, can := shown(t, behaviour, role)
			fmt.Fprintf(&b, "%-14s %-22s ", behaviour.Name, role)
			if !can {
				require.Contains(t, got.stderr, "only a reviewer can do that")
				b.WriteString("cannot do that\n")
				continue
			}
			j := judge(role, got.stdout)
			fmt.Fprintf(&b, "exit %-3d %s by %s", got.exit, j.Verdict, j.Grammar)
			for _, p := range j.Errors {
				fmt.Fprintf(&b, ", %s %s", p.Fault, p.Field)
			}
			for _, w := range j.Warnings {
				fmt.Fprintf(&b, ", tolerated %s", w.Remark)
			}
			b.WriteString("\n")
		}
	}
	golden.Equal(t, "judged.golden", b.String())
}

// The answers themselves, so that a change of one is seen. Noise is counted, not shown.
func TestAnswersAreAsTheyWere(t *testing.T) {
	var b strings.Builder
	noise := regexp.MustCompile(`(?s)\A(\.\.\..*?)role:`)
	for _, behaviour := range play.Behaviours() {
		for _, role := range everyRole[:2] {
			got, can := shown(t, behaviour, role)
			if !can {
				continue
			}
			text := got.stdout
			if found := noise.FindStringSubmatch(text); found != nil {
				text = fmt.Sprintf("(%d bytes)\n", len(found[1])) + text[len(found[1]):]
			}
			text = strings.ReplaceAll(strings.ReplaceAll(text, "\r", "␍"), "\uFEFF", "(BOM)")
			fmt.Fprintf(&b, "=== %s as %s\n%s", behaviour.Name, role, text)
			if text != "" && !strings.HasSuffix(text, "\n") {
				b.WriteString("(no end of line)\n")
			}
		}
	}
	golden.Equal(t, "answers.golden", b.String())
}

func TestTheSameQuestionGetsTheSameBytes(t *testing.T) {
	for _, behaviour := range play.Behaviours() {
		first, _ := shown(t, behaviour, core.SpecReviewer)
		second, _ := shown(t, behaviour, core.SpecReviewer)
		require.Equal(t, first, second, behaviour.Name)
	}
	one, other := ask("", "--role=worker", "--task=1"), ask("", "--role=worker", "--task=2")
	ranges := regexp.MustCompile(`git_range: \S+`)
	require.NotEqual(t, ranges.FindString(one.stdout), ranges.FindString(other.stdout), "each item has work of its own")
}

func TestIssuesAndReasonsArriveWhole(t *testing.T) {
	want := []string{"the minute hand is missing", "there is no test for midnight"}
	for _, behaviour := range []string{"gaps", "reject"} {
		got := ask(compiled(t, core.SpecReviewer, item), scripted(t, `2.1 spec-reviewer * `+behaviour+` "`+strings.Join(want, ";  ")+`;"`))
		var messages []string
		for _, issue := range judge(core.SpecReviewer, got.stdout).Result.Issues {
			messages = append(messages, issue.Message)
		}
		require.Equal(t, want, messages, behaviour)
	}
	reason := `a "quoted" <b> & a back\slash`
	for _, behaviour := range []string{"blocked", "error"} {
		for _, role := range everyRole {
			got := ask(compiled(t, role, item), scripted(t, fmt.Sprintf("* * * %s %q", behaviour, reason)))
			require.Contains(t, got.stdout, "<b> & a back", "it is written for people as well")
			r := judge(role, got.stdout).Result
			if behaviour == "blocked" && role == core.Worker {
				require.Equal(t, reason, r.Summary)
				continue
			}
			require.Equal(t, reason, r.Issues[0].Message, "%s of %s", behaviour, role)
		}
	}
}

func TestNoiseHasTheSizeThatWasAskedFor(t *testing.T) {
	p := compiled(t, core.Worker, item)
	good := ask(p).stdout
	for _, size := range []int{0, 1, 2, 74, 75, 4096, 1<<20 + 1} {
		got := ask(p, scripted(t, fmt.Sprintf("* * * huge %d", size)))
		require.True(t, strings.HasSuffix(got.stdout, good))
		require.Len(t, got.stdout, size+len(good))
		if lines := strings.SplitAfter(got.stdout[:size], "\n"); len(lines) > 2 {
			whole := lines[:len(lines)-2] // but for the last one, and nothing behind it
			require.Len(t, slices.Compact(whole), 1, "a line is broken where the buffer ends")
		}
		require.Equal(t, "pass", string(judge(core.Worker, got.stdout).Verdict), size)
	}
}

func TestSlowWaitsAsLongAsItWasTold(t *testing.T) {
	p, script := compiled(t, core.Worker, item), scripted(t, "* * * slow 1m30s")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		// The real clock is a fake one in here; to listen for the signals of the process is not possible.
		got := perform(play.Options{Args: []string{script}, Stop: make(chan os.Signal)}, p)
		require.Equal(t, 90*time.Second, time.Since(start))
		require.Equal(t, ask(p).stdout, got.stdout)
		require.Equal(t, 0, got.exit)
	})
	var asked time.Duration
	over := make(chan time.Time)
	close(over)
	perform(play.Options{Args: []string{script}, After: func(d time.Duration) <-chan time.Time { asked = d; return over }}, p)
	require.Equal(t, 90*time.Second, asked, "the clock that was handed in is the one that is used")
}

func TestASignalEndsAWaitWithoutAnAnswer(t *testing.T) {
	p := compiled(t, core.Worker, item)
	for _, behaviour := range []string{"hang", "slow 100h"} {
		for signal, exit := range map[os.Signal]int{syscall.SIGTERM: 143, os.Interrupt: 130} {
			script := scripted(t, "* * * "+behaviour)
			synctest.Test(t, func(t *testing.T) {
				var stdout bytes.Buffer
				var stderr bytes.Buffer
				stop, ended := make(chan os.Signal), make(chan int, 1)
				go func() { // ends when the agent does
					ended <- play.Play(play.Options{
						Args: []string{script}, Stdin: strings.NewReader(p), Stdout: &stdout, Stderr: &stderr, Stop: stop,
					})
				}()
				synctest.Wait()
				require.Empty(t, ended, "it waits")
				require.Equal(t, "fakeagent: waiting\n", stderr.String())
				stop <- signal
				require.Equal(t, exit, <-ended)
				require.Empty(t, stdout.String())
			})
		}
	}
}

func TestAClosedStopEndsAWait(t *testing.T) {
	stop := make(chan os.Signal)
	close(stop)
	got := perform(play.Options{Args: []string{scripted(t, "* * * hang")}, Stop: stop}, compiled(t, core.Worker, item))
	require.Equal(t, 143, got.exit)
}

// The table of the README is written from the list of behaviours and from what waybill makes of them.
func TestReadmeTableIsCurrent(t *testing.T) {
	golden.Parts(t, filepath.Join("..", "README.md"), map[string]string{"behaviours": behaviourTable(t)})
}

func behaviourTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| behaviour | what it does | from a worker | from a reviewer |\n|---|---|---|---|\n")
	for _, behaviour := range play.Behaviours() {
		name := strings.TrimSpace(behaviour.Name + " " + behaviour.Argument)
		fmt.Fprintf(&b, "| `%s` | %s |", name, behaviour.About)
		for _, role := range everyRole[:2] {
			got, can := shown(t, behaviour, role)
			j := judge(role, got.stdout)
			switch {
			case !can:
				b.WriteString(" – |")
			case got.exit != 0:
				fmt.Fprintf(&b, " exit %d |", got.exit)
			default:
				fmt.Fprintf(&b, " `%s` by `%s` |", j.Verdict, j.Grammar)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The script of the README is right, and does what the text beside it says.
func TestReadmeScriptIsTrue(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(string(text))
	require.NotNil(t, found)
	script := scripted(t, found[1])
	for _, c := range []struct {
		item string
		role core.Role
		try  int
		want string
	}{
		{"2.1", core.Worker, 1, "invalid"},
		{"2.1", core.Worker, 2, "pass"},
		{"2.1", core.SpecReviewer, 1, "gaps"},
		{"2.1", core.SpecReviewer, 2, "pass"},
		{"2.2", core.Worker, 1, "error"},
		{"2.2", core.Worker, 5, "error"},
		{"2.2", core.SpecReviewer, 1, "pass"},
		{"7", core.CodeQualityReviewer, 1, "gaps"},
		{"7", core.CodeQualityReviewer, 2, "pass"},
	} {
		got := ask("", script, "--role="+c.role.String(), "--task="+c.item, fmt.Sprintf("--try=%d", c.try))
		require.Empty(t, got.stderr)
		j := judge(c.role, strings.Replace(got.stdout, c.item, item, 1))
		require.Equal(t, c.want, string(j.Verdict), "%s %s %d: %s", c.item, c.role, c.try, got.stdout)
	}
}
