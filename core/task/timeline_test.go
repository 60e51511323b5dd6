package task_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
)

// ranAs returns an attempt that ended.
func ranAs(number int, status task.AttemptStatus, model task.Model, session, message string) task.Attempt {
	return task.Attempt{
		Number: number, Model: model,
		Phase: task.EndedAttempt{Status: status, Session: session, Failure: task.Failure{Message: message}},
	}
}

func TestTimelineHasALineForEachAttempt(t *testing.T) {
	empty := ranAs(5, task.AttemptError, opus, "ses_5", "quota exceeded")
	ended := empty.Phase.(task.EndedAttempt)
	ended.Failure = task.Classify(ended.Failure)
	empty.Phase = ended
	skipped := ranAs(6, task.AttemptCompleted, gpt, "ses_6", "")
	skipped.Cause, skipped.Link = task.CauseRetry, 3
	require.Equal(t, `Attempt 1 — ERROR — anthropic/opus-4.1 — ses_1 — 529 overloaded
Attempt 2 — LOST — anthropic/opus-4.1 — unknown — nothing was heard
Attempt 3 — RUNNING — openai — ses_3
Attempt 4 — PENDING — gpt-5 — unknown
Attempt 5 — ERROR — anthropic/opus-4.1 — ses_5 — quota exceeded
Attempt 6 — COMPLETED — openai/gpt-5 — ses_6 (2 models of the same provider passed by, which share its account)
Attempt 7 — AWAITING_RESPONSE — unknown-model — ses_7`, task.Timeline([]task.Attempt{
		ranAs(1, task.AttemptError, opus, "ses_1", "529 overloaded"),
		ranAs(2, task.AttemptLost, opus, "", "nothing was heard"),
		{Number: 3, Model: task.Model{Provider: "openai"}, Phase: task.RunningAttempt{Session: "ses_3"}},
		{Number: 4, Model: task.Model{ID: "gpt-5"}, Phase: task.PendingAttempt{}},
		empty, skipped,
	}, 0, []task.Attempt{ranAs(7, task.AttemptAwaiting, task.Model{}, "ses_7", "")}))
}

func TestTimelineOfTenThousandAttemptsIsCapped(t *testing.T) {
	const all = 10_000
	var head, tail []task.Attempt
	for n := 1; n <= task.TimelineHead; n++ {
		head = append(head, ranAs(n, task.AttemptError, gpt, "ses", "no"))
	}
	for n := all - (task.TimelineLines - task.TimelineHead - 1) + 1; n <= all; n++ {
		tail = append(tail, ranAs(n, task.AttemptError, gpt, "ses", "no"))
	}
	lines := strings.Split(task.Timeline(head, all-len(head)-len(tail), tail), "\n")
	require.Len(t, lines, task.TimelineLines)
	require.Equal(t, "Attempt 3 — ERROR — openai/gpt-5 — ses — no", lines[2])
	require.Equal(t, "… 9,987 more", lines[3])
	require.Equal(t, "Attempt 9991 — ERROR — openai/gpt-5 — ses — no", lines[4])
	require.Equal(t, "Attempt 10000 — ERROR — openai/gpt-5 — ses — no", lines[13])
}

func TestLargeNumbersOfAttemptsAreWrittenWithCommas(t *testing.T) {
	require.Empty(t, task.Timeline(nil, 0, nil))
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		require.Equal(t, "… "+want+" more", task.Timeline(nil, n, nil))
	}
}

func TestHostileTextStaysWithinItsLine(t *testing.T) {
	hostile := "a\n`b` — <c>\u202e\x1b[31m"
	got := task.Timeline([]task.Attempt{ranAs(1, task.AttemptError, task.Model{Provider: hostile, ID: hostile}, hostile, hostile)}, 0, nil)
	require.Equal(t, "Attempt 1 — ERROR — a 'b' - ‹c› [31m/a 'b' - ‹c› [31m — a 'b' - ‹c› [31m — a 'b' - ‹c› [31m", got)
}
