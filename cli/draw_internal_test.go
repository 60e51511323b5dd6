package cli

// These tests are inside because the time that a drawing shows is given by the test, and the front door
// has only that of the clock.

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// after is a time of the wire, so long after noon.
func after(d time.Duration) schema.Time { return schema.Time(noon.Add(d).Format(time.RFC3339Nano)) }

func undressed(string) func(string) string { return func(text string) string { return text } }

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
		p := taskSheet{drawing{width, noon.Add(10 * time.Minute), undressed}, ""}
		text := p.task(life())
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, columns(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
		fmt.Fprintf(&all, "── %d columns\n%s\n", width, text)
	}
	golden(t, "show.golden", all.String())
}

// get_task gives the last replies of many; the page says that there were others.
func TestShowSaysHowManyRepliesItLeavesOut(t *testing.T) {
	d := life()
	require.NotContains(t, taskSheet{drawing{80, noon, undressed}, ""}.task(d), "before;")
	for total, want := range map[int]string{2: "\n… 1 reply before; ", 71: "\n… 70 replies before; "} {
		d.RepliesTotal = total
		require.Contains(t, taskSheet{drawing{80, noon, undressed}, ""}.task(d), want)
	}
}

// The drawing in the README is what this one draws.
func TestReadmeShowsTheDrawing(t *testing.T) {
	failed := attempt(1, "error", "large", 0, 12*time.Second)
	failed.Error, failed.ErrorClass = "429 Too Many Requests", "provider"
	text := drawing{80, noon, undressed}.attempts([]schema.Attempt{
		failed, attempt(2, "awaiting_response", "small", 12*time.Second, 41*time.Second), attempt(3, "completed", "small", 50*time.Second, 70*time.Second),
	})
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(readme), "\r\n", "\n"), "```text\n"+text+"```\n", "the README draws something else than\n%s", text)
}

func TestDrawingIsProportional(t *testing.T) {
	d := drawing{80, noon.Add(time.Hour), undressed}
	rows := strings.Split(d.attempts([]schema.Attempt{
		attempt(1, "error", "", 0, 10*time.Second), attempt(2, "completed", "", 10*time.Second, 40*time.Second),
	}), "\n")
	failed, done := strings.Count(rows[1], "x"), strings.Count(rows[2], "█")
	require.InDelta(t, 3*failed, done, 2)
	require.Equal(t, strings.LastIndex(rows[1], "x")+1, strings.Index(rows[2], "█"), "the second begins where the first has ended")
}

func TestDrawingOfALongLifeSaysWhatIsLeftOut(t *testing.T) {
	d := drawing{80, noon, undressed}
	attempts := []schema.Attempt{attempt(1, "error", "", 0, time.Second), attempt(9999, "error", "", time.Hour, time.Hour+time.Second)}
	text := d.attempts(attempts)
	require.Contains(t, text, "… 9997 attempts more\n")
	require.Equal(t, 2, strings.Count(text, " x "), "an attempt of a second in an hour has a character")
}

func TestDrawingStandsAClockThatWasSetBack(t *testing.T) {
	back := attempt(1, "running", "", time.Hour, 0)
	text := drawing{80, noon, undressed}.attempts([]schema.Attempt{back, attempt(2, "completed", "", time.Hour, time.Minute)})
	require.Contains(t, text, "0s+")
	require.NotContains(t, text, "-")
}

func TestColoursAreOnlyAddedToTheDrawing(t *testing.T) {
	now := noon.Add(10 * time.Minute)
	dressed := taskSheet{drawing{80, now, (&app{env: func(name string) string {
		return map[string]string{"CLICOLOR_FORCE": "1"}[name]
	}}).style}, ""}.task(life())
	require.Contains(t, dressed, "\x1b[31mx")
	plain := taskSheet{drawing{80, now, undressed}, ""}.task(life())
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
	text := taskSheet{drawing{80, noon, undressed}, ""}.task(d)
	a := &app{env: func(string) string { return "" }, noColor: true}
	d.Task.CreatedAt = after(-2000 * 24 * time.Hour)
	text += a.taskLine(d.Task, 80, noon) + "\n"
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, plain(line), line)
		require.LessOrEqual(t, columns(line), 80, "%q", line)
	}
	whole := a.taskLine(d.Task, 1000, noon)
	require.Equal(t, plain(whole), whole)
	require.Equal(t, 1, strings.Count(text, "\nattempts\n"), "nobody can forge a heading")
}

func TestListSaysWhyATaskWaits(t *testing.T) {
	a := &app{env: func(string) string { return "" }, noColor: true}
	task := schema.Task{
		TaskID: someTask, Status: "QUEUED", AttemptNumber: 12, CreatedAt: after(0), Prompt: "\n Write the report.\nAll of it.",
		Model: &schema.Model{ProviderID: "acme", ModelID: "large"},
	}
	now := noon.Add(26 * time.Hour)
	require.Equal(t, someTask+" queued     26h #12 large · Write the r…", a.taskLine(task, 80, now))
	task.WaitingFor = []schema.WaitingFor{
		{Kind: "depends_on", TaskID: "tsk_0"},
		{Kind: "depends_on", TaskID: "tsk_9"},
		{Kind: "retry_delay", Until: after(26*time.Hour + 5*time.Second)},
		{Kind: "provider_cooling", Until: after(27 * time.Hour)},
	}
	require.Equal(t, someTask+" queued     26h #12 after 2 tasks, retr…", a.taskLine(task, 80, now))
	require.Equal(t, someTask+" queued     26h #12 after 2 tasks, retry in 5s, model rests 1h 0m · large · Write the report.", a.taskLine(task, 200, now))
}

func TestColumnsAreThoseOfTheTerminal(t *testing.T) {
	for text, want := range map[string]int{"abc": 3, "Käfer": 5, "Ka\u0308fer": 5, "日本語": 6, "a👍b": 4, "ｆｕｌｌ": 8, "…█░": 3} {
		require.Equal(t, want, columns(text), text)
		require.Equal(t, text, fit(text, want), text)
		require.LessOrEqual(t, columns(fit(text, want-1)), want-1, text)
	}
	require.Equal(t, "日…", fit("日本語", 4))
}

func FuzzQuote(f *testing.F) {
	f.Add(hostile, 80)
	f.Add("日本語 and a\u0308 long line that goes on and on until it must be broken somewhere between two words", 40)
	f.Add("\n\n \n", 41)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = leastWidth + (width&0xff+0x100)%0x100
		n := 0
		for line := range strings.Lines(quote(text, width)) {
			line = strings.TrimSuffix(line, "\n")
			require.True(t, strings.HasPrefix(line, strings.TrimRight(gutter, " ")), "%q", line)
			require.LessOrEqual(t, columns(line), width, "%q", line)
			require.Equal(t, plain(line), line)
			n++
		}
		require.LessOrEqual(t, n, quotedLines+1)
	})
}

// megabyte is as long as a prompt may be, in one line.
var megabyte = strings.Repeat("Find all packets. ", 1<<20/18)

// A prompt of a megabyte took 16 seconds to show: every line that it breaks into was made, and for each
// the whole rest was counted.
func TestQuoteMakesNoMoreThanItShows(t *testing.T) {
	for name, text := range map[string]string{
		"words": megabyte, "a word": strings.Repeat("x", 1<<20), "lines": strings.Repeat("x\n", 1<<19), "wide": strings.Repeat("日", 1<<18),
	} {
		made := 0
		counted := func(yield func(int, string) bool) {
			for line, piece := range pieces(text, 76) {
				made++
				if !yield(line, piece) {
					return
				}
			}
		}
		require.Equal(t, quote(text, 80), beginning(counted, 1+strings.Count(strings.TrimRight(text, "\n"), "\n")), name)
		require.Equal(t, quotedLines+1, made, name)
		require.LessOrEqual(t, testing.AllocsPerRun(1, func() { quote(text, 80) }), 10.0*quotedLines, name)
	}
}

// Where a line is cut is told by its beginning alone; what stands behind may be of any length.
func TestCutIsToldByTheBeginning(t *testing.T) {
	for text := megabyte; text != ""; text = text[cut(text, 76):] {
		require.Equal(t, min(76, len(text)), cut(text, 76))
		require.Equal(t, cut(text, 76), cut(text[:min(77, len(text))], 76))
	}
}

func BenchmarkQuoteAMegabyte(b *testing.B) {
	b.SetBytes(int64(len(megabyte)))
	for b.Loop() {
		quote(megabyte, 80)
	}
}

func BenchmarkWrapAMegabyte(b *testing.B) {
	b.SetBytes(int64(len(megabyte)))
	for b.Loop() {
		for range wrap(megabyte, 76) {
		}
	}
}

func TestWrapKeepsEveryWord(t *testing.T) {
	line := "It fails once in ten runs, and nobody knows why: a-word-that-is-longer-than-a-line."
	wrapped := slices.Collect(wrap(line, 20))
	for _, part := range wrapped {
		require.LessOrEqual(t, columns(part), 20)
	}
	require.Equal(t, strings.ReplaceAll(line, " ", ""), strings.ReplaceAll(strings.Join(wrapped, ""), " ", ""))
}

func TestSpansAndAges(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		-time.Second: {"0s", "0s"}, 0: {"0s", "0s"}, time.Microsecond: {"<1ms", "0s"}, 250 * time.Millisecond: {"250ms", "0s"},
		41 * time.Second: {"41s", "41s"}, 200 * time.Second: {"3m 20s", "3m"}, 3*time.Hour + 5*time.Minute: {"3h 5m", "3h"},
		99 * time.Hour: {"4d 3h", "99h"}, 200 * 24 * time.Hour: {"200d 0h", "200d"}, 2000 * 24 * time.Hour: {"2000d 0h", "5y"},
	} {
		require.Equal(t, want, [2]string{span(d), age(d)})
		require.LessOrEqual(t, len(age(d)), 4)
	}
}

func TestModelsAreRead(t *testing.T) {
	for text, want := range map[string]schema.Model{
		"acme/large":              {ProviderID: "acme", ModelID: "large"},
		"acme/large:high":         {ProviderID: "acme", ModelID: "large", Variant: "high"},
		"router/acme/large":       {ProviderID: "router", ModelID: "acme/large"},
		"ollama/llama3:8b:":       {ProviderID: "ollama", ModelID: "llama3:8b"},
		"ollama/llama3:8b:frugal": {ProviderID: "ollama", ModelID: "llama3:8b", Variant: "frugal"},
	} {
		got, err := parseModel(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "large", "/large", "acme/", "acme/:high", " / "} {
		_, err := parseModel(text)
		require.ErrorContains(t, err, "provider/model", text)
	}
}

func TestReplyLineNamesTheStoreThatWasNamed(t *testing.T) {
	require.Equal(t, "waybill reply tsk_1 -m '…'", (&app{}).replyLine("tsk_1"))
	a := &app{workspace: "/home/o'neil", store: "x y.db"}
	require.Equal(t, `waybill reply tsk_1 --workspace '/home/o'\''neil' --store 'x y.db' -m '…'`, a.replyLine("tsk_1"))
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
