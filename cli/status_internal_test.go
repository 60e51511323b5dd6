package cli

// This test is inside because a status with many waiting tasks would take many tasks.

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestStatusShowsWhoWaitsAndThatThereAreMore(t *testing.T) {
	v := statusView{Awaiting: []schema.Awaiting{
		{TaskID: someTask, Question: "Keep the old data?\n" + hostile, WaitingMS: 200_000},
	}}
	v.Counts.Tasks = map[string]int{"AWAITING_RESPONSE": 3, "QUEUED": 2, "COMPLETE": 0}
	text := v.text(80, (&app{}).replyLine)
	require.Contains(t, text, "\ntasks         3 awaiting, 2 queued\n")
	require.Contains(t, text, "\nquestion      for 3m 20s: Keep the old data? \ufffd[2J")
	require.Contains(t, text, "\n              waybill reply "+someTask+" -m '…'\n              … 2 more: waybill ls --status awaiting\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, plain(line), line)
		require.LessOrEqual(t, columns(line), 80, "%q", line)
	}
}
