package task

// These tests are inside because the time that a drawing shows is given by the test, and the front door
// has only that of the clock.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/test/golden"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// after is a time of the wire, so long after noon.
func after(d time.Duration) schema.Time { return schema.Time(noon.Add(d).Format(time.RFC3339Nano)) }

func unstyled(string) func(string) string { return func(text string) string { return text } }

// attempt is one that ran between two moments; the zero moment stands for one that has not come.
func attempt(number int, status string, model string, from, to time.Duration) schema.Attempt {
	a := schema.Attempt{AttemptID: fmt.Sprintf("att_%d", number), AttemptNumber: number, Status: status, CreatedAt: after(from)}
	if status != "pending" {
		a.StartedAt = after(from)
	}
	if to != 0 {
		a.CompletedAt = after(to)
	}
	if model != "" {
		a.Model = &schema.Model{ProviderID: "acme", ModelID: model}
	}
	return a
}

// someTask is an id as they are.
const someTask = "tsk_01a1fb5b-2d50-758b-bb47-8d13bc50a563"

// life is a task with an attempt of every status.
func life() schema.TaskDetail {
	failed := attempt(1, "error", "large", 0, 40*time.Second)
	failed.Error, failed.ErrorClass = "429 Too Many Requests: come back later", "provider"
	lost := attempt(2, "lost", "small", 41*time.Second, 101*time.Second)
	lost.Error, lost.ErrorClass = `nothing was heard of worker "w1" for 1m 0s, the length of its lease`, "transient"
	return schema.TaskDetail{
		Task: schema.Task{
			TaskID: someTask, Status: "RUNNING", Prompt: "Fix the login test.\n\nIt fails once in ten runs.", Description: "Login test",
			Role: "worker", RunID: "run_1", ParentSessionID: "ses_0", SessionID: "ses_8", AttemptNumber: 8, MaxAttempts: 3, Failures: 2,
			Models: []schema.Model{{ProviderID: "acme", ModelID: "large"}, {ProviderID: "acme", ModelID: "small", Variant: "high"}},
			Labels: map[string]string{"team": "seeds", "area": "login"}, Output: "Two of three files are done.", CreatedAt: after(0),
			UpdatedAt: after(9 * time.Minute), Question: "Keep the old data?",
		},
		Attempts: []schema.Attempt{
			failed, lost,
			attempt(3, "awaiting_response", "small", 102*time.Second, 200*time.Second),
			attempt(4, "interrupted", "small", 300*time.Second, 301*time.Second),
			attempt(5, "cancelled", "small", 302*time.Second, 330*time.Second),
			attempt(6, "completed", "a-model-with-quite-a-long-name", 331*time.Second, 400*time.Second),
			attempt(7, "running", "small", 400*time.Second, 0),
			attempt(8, "pending", "", 500*time.Second, 0),
		},
		Replies: []schema.Reply{{Reply: "Yes,\nkeep it.", Question: "Keep the old data?", By: "anna", At: after(4 * time.Minute), AttemptID: "att_3"}},
	}
}

func TestShowAtEveryWidth(t *testing.T) {
	var all strings.Builder
	for _, width := range []int{40, 80, 120} {
		p := taskSheet{drawing{width, noon.Add(10 * time.Minute), unstyled}, ""}
		text := p.task(life())
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, output.Columns(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
		fmt.Fprintf(&all, "── %d columns\n%s\n", width, text)
	}
	golden.Equal(t, "show.golden", all.String())
}

// get_task returns the last replies of many; the page says that there were others.
func TestShowSaysHowManyRepliesItLeavesOut(t *testing.T) {
	d := life()
	require.NotContains(t, taskSheet{drawing{80, noon, unstyled}, ""}.task(d), "before;")
	for total, want := range map[int]string{2: "\n… 1 reply before; ", 71: "\n… 70 replies before; "} {
		d.RepliesTotal = total
		require.Contains(t, taskSheet{drawing{80, noon, unstyled}, ""}.task(d), want)
	}
}

// The drawing in the tutorial is the one that is drawn here.
func TestTutorialShowsTheDrawing(t *testing.T) {
	failed := attempt(1, "error", "large", 0, 12*time.Second)
	failed.Error, failed.ErrorClass = "429 Too Many Requests", "provider"
	text := drawing{80, noon, unstyled}.attempts([]schema.Attempt{
		failed, attempt(2, "awaiting_response", "small", 12*time.Second, 41*time.Second), attempt(3, "completed", "small", 50*time.Second, 70*time.Second),
	})
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tutorial.md"))
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(page), "\r\n", "\n"), "```text\n"+text+"```\n", "the tutorial draws something else than\n%s", text)
}

func TestDrawingIsProportional(t *testing.T) {
	d := drawing{80, noon.Add(time.Hour), unstyled}
	rows := strings.Split(d.attempts([]schema.Attempt{
		attempt(1, "error", "", 0, 10*time.Second), attempt(2, "completed", "", 10*time.Second, 40*time.Second),
	}), "\n")
	failed, done := strings.Count(rows[1], "x"), strings.Count(rows[2], "█")
	require.InDelta(t, 3*failed, done, 2)
	require.Equal(t, strings.LastIndex(rows[1], "x")+1, strings.Index(rows[2], "█"), "the second begins where the first has ended")
}

func TestDrawingOfALongLifeSaysWhatIsLeftOut(t *testing.T) {
	d := drawing{80, noon, unstyled}
	attempts := []schema.Attempt{attempt(1, "error", "", 0, time.Second), attempt(9999, "error", "", time.Hour, time.Hour+time.Second)}
	text := d.attempts(attempts)
	require.Contains(t, text, "… 9997 attempts more\n")
	require.Equal(t, 2, strings.Count(text, " x "), "an attempt of a second in an hour has a character")
}

func TestDrawingStandsAClockThatWasSetBack(t *testing.T) {
	back := attempt(1, "running", "", time.Hour, 0)
	text := drawing{80, noon, unstyled}.attempts([]schema.Attempt{back, attempt(2, "completed", "", time.Hour, time.Minute)})
	require.Contains(t, text, "0s+")
	require.NotContains(t, text, "-")
}

func TestColoursAreOnlyAddedToTheDrawing(t *testing.T) {
	now := noon.Add(10 * time.Minute)
	dressed := taskSheet{drawing{80, now, (&output.Printer{Env: func(name string) string {
		return map[string]string{"CLICOLOR_FORCE": "1"}[name]
	}}).Style}, ""}.task(life())
	require.Contains(t, dressed, "\x1b[31mx")
	plain := taskSheet{drawing{80, now, unstyled}, ""}.task(life())
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "34", "35"} {
		dressed = strings.ReplaceAll(dressed, "\x1b["+code+"m", "")
	}
	require.Equal(t, plain, dressed)
}

// hostile has what a terminal would obey, and a line that looks like one of ours.
const hostile = "\x1b[2J\x1b]0;owned\a\u202egnp\u2066\u200b\x9b31m\r\nattempts\n  1  completed\x00"

func TestHostileTextStaysText(t *testing.T) {
	d := life()
	d.Task.Prompt, d.Task.Description, d.Task.Output, d.Task.Question, d.Task.Reason = hostile, hostile, hostile, hostile, hostile
	d.Task.Role, d.Task.SessionID, d.Task.ParentSessionID = hostile, hostile, hostile
	d.Task.Models = []schema.Model{{ProviderID: hostile, ModelID: hostile, Variant: hostile}}
	d.Task.Labels = map[string]string{hostile: hostile}
	d.Task.WaitingFor = []schema.WaitingFor{{Kind: "depends_on", TaskID: hostile, Status: hostile}, {Kind: hostile}}
	d.Task.Model = &d.Task.Models[0]
	d.Attempts[0].Error, d.Attempts[0].Model, d.Attempts[0].Status = hostile, d.Task.Model, hostile
	d.Replies[0] = schema.Reply{Reply: hostile, Question: hostile, By: hostile, At: after(0)}
	text := taskSheet{drawing{80, noon, unstyled}, ""}.task(d)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, safetext.Printable(line), line)
		require.LessOrEqual(t, output.Columns(line), 80, "%q", line)
	}
	require.Equal(t, 1, strings.Count(text, "\nattempts\n"), "nobody can forge a heading")
}

func TestListSaysWhyATaskWaits(t *testing.T) {
	now := noon.Add(26 * time.Hour)
	require.Empty(t, waits(nil, now))
	require.Equal(t, "after 2 tasks, retry in 5s, model rests 1h 0m", waits([]schema.WaitingFor{
		{Kind: "depends_on", TaskID: "tsk_0"},
		{Kind: "depends_on", TaskID: "tsk_9"},
		{Kind: "retry_delay", Until: after(26*time.Hour + 5*time.Second)},
		{Kind: "provider_cooling", Until: after(27 * time.Hour)},
	}, now))
}

func TestDraftIsWhatStandsAboveTheScissors(t *testing.T) {
	path, err := writeDraft(schema.Task{TaskID: "tsk_1", Status: "AWAITING_RESPONSE", Prompt: "p", Question: "Which?\n" + scissors + "\n" + hostile})
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(path) })
	empty, err := readDraft(path)
	require.NoError(t, err)
	require.Empty(t, empty, "nothing but what we wrote is no reply")
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(written), "\x1b")
	require.NoError(t, os.WriteFile(path, append([]byte("# A heading\r\n\r\nKeep it.\r\n"), written...), 0o600))
	reply, err := readDraft(path)
	require.NoError(t, err)
	require.Equal(t, "# A heading\n\nKeep it.", reply)
}
