package task

// This test is inside because a status with many waiting tasks would take many tasks.

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/internal/safetext"
	"waybill/schema"
)

func plainSheet(width int) statusSheet {
	return statusSheet{width, width, unstyled, func(word string) string { return word }, (&program.App{}).CommandLine}
}

func TestStatusShowsWhoWaitsAndThatThereAreMore(t *testing.T) {
	v := statusView{more: true, Awaiting: []schema.Awaiting{
		{TaskID: someTask, Question: "Keep the old data?\n" + hostile, WaitingMS: 200_000},
	}}
	v.Counts.Tasks = map[string]int{"AWAITING_RESPONSE": 3, "QUEUED": 2, "COMPLETE": 0}
	v.Attention = []schema.Concern{{Kind: "questions", Count: 3}}
	text := v.text(plainSheet(80))
	require.Contains(t, text, "\ntasks         3 awaiting, 2 queued\n")
	require.Contains(t, text, "question      for 3m 20s: Keep the old data? \ufffd[2J")
	require.Contains(t, text, "\n              waybill task reply "+someTask+" -m '…'\n              … 2 more: waybill task ls --status awaiting\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, safetext.Printable(line), line)
		require.LessOrEqual(t, output.Columns(line), 80, "%q", line)
	}
}

// One that is counted and that no list has, as a damaged one is not, is not looked for in an empty list.
func TestStatusPointsToNoEmptyList(t *testing.T) {
	var v statusView
	v.Counts.Tasks = map[string]int{"AWAITING_RESPONSE": 1}
	v.Attention = []schema.Concern{
		{Kind: "fault", Text: "task " + someTask + ": it is not what was written"},
		{Kind: "questions", Count: 1, Text: "1 task waits for an answer"},
	}
	text := v.text(plainSheet(80))
	require.NotContains(t, text, "more")
	require.Contains(t, text, "\ntasks         1 awaiting\n")
	require.Contains(t, text, "degraded      task "+someTask+": it is not what was written\n")
}

// A notice of a task has the whole timeline of it, and a list has a line for it.
func TestStatusGivesANoticeOneLine(t *testing.T) {
	v := statusView{Notices: []schema.Notice{
		{NoticeID: "ntc" + someTask[3:], Text: "task " + someTask + " failed\nAttempt 1 — ERROR\nAttempt 2 — LOST"},
		{NoticeID: "ntc" + someTask[3:], Text: hostile},
	}}
	for _, width := range []int{output.LeastWidth, 80, 200} {
		text := v.text(plainSheet(width))
		require.NotContains(t, text, "Attempt")
		require.NotContains(t, text, "attempts")
		require.Equal(t, 2, strings.Count("\n"+text, "\nnotice "))
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "notice") {
				require.LessOrEqual(t, output.Columns(line), max(width, 57), "%q: its id and a mark are there at any width", line)
			}
		}
	}
	require.Contains(t, v.text(plainSheet(200)), "  task "+someTask+" failed\n")
}

func TestStatusSaysWhatPacketsSpared(t *testing.T) {
	var v statusView
	require.NotContains(t, v.text(plainSheet(80)), "prompts", "nothing was compiled")
	v.Telemetry = schema.Telemetry{
		Dispatch: schema.DispatchCounts{Prompts: 12, Overflows: 1}, Packets: schema.PacketCounts{Full: 8, Delta: 4},
		Tokens:      schema.TokenCounts{Sent: 9000, Resend: 36000, Saved: 27000},
		LedgerModes: map[string]int64{"ledger_only": 10, "ledger_plus_fallback": 2},
	}
	require.Contains(t, v.text(plainSheet(80)), "\nprompts       12, 4 of them deltas; about 9000 tokens sent, 27000 (75 %) saved\n"+
		"              2 compiled while the plan could not be read\n"+
		"              1 refused because they were over their budget\n")
}
