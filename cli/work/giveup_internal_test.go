package work

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tests are inside because the decision is made of events, and no command can be made to take exactly five seconds.

// events reads a line for each event: KIND SUBJECT MILLISECONDS [MESSAGE]. A subject with a dot is an item, another one a
// task of the queue.
func events(lines ...string) (all []Event) {
	for _, line := range lines {
		f := strings.SplitN(line+"   ", " ", 4)
		e := Event{Kind: f[0], TaskID: f[1], Status: "ERROR", Message: strings.TrimSpace(f[3])}
		if strings.Contains(f[1], ".") {
			e.TaskID, e.ItemID = "", f[1]
		}
		if f[2] == "slow" {
			e.TookMS = 5_000
		}
		switch f[0] {
		case "invalid", "gaps", "pass":
			e.Kind, e.Verdict = Completed, f[0]
		case "retried":
			e.Kind, e.Status = Failed, "QUEUED"
		}
		all = append(all, e)
	}
	return all
}

func TestStreakOfTheSameEnding(t *testing.T) {
	three := func(line string) (lines []string) {
		for _, item := range []string{"1.1", "1.2", "1.3"} {
			lines = append(lines, strings.ReplaceAll(line, "ITEM", item), "halted "+item)
		}
		return lines
	}
	tests := []struct {
		name  string
		lines []string
		stops bool
	}{
		{"three items fail alike", three("failed ITEM quick no such key"), true},
		{"three results cannot be read, however long that took", three("invalid ITEM slow no result"), true},
		{"the reasons differ in numbers and ids", []string{
			"failed 1.1 quick 401 (request req_011Cab): bad key", "halted 1.1", "failed 1.2 quick 401 (request req_9Zx): bad key", "halted 1.2",
			"failed 1.3 quick 403 (request req_77): bad key", "halted 1.3",
		}, true},
		{"the reasons differ in what they quote", []string{
			`invalid 1.1 quick the status "done" is none`, "halted 1.1", `invalid 1.2 quick the status "ok, then" is none`, "halted 1.2",
			"invalid 1.3 quick the status `x` is none", "halted 1.3",
		}, true},
		{"reviewers fail behind workers that pass", []string{
			"pass 1.1 slow", "failed 1.1 quick a", "halted 1.1", "pass 1.2 slow", "failed 1.2 quick a", "halted 1.2",
			"pass 1.3 slow", "failed 1.3 quick a", "halted 1.3",
		}, true},
		{"only the last attempt at an item counts", []string{
			"gaps 1.1 slow", "failed 1.1 quick a", "halted 1.1", "invalid 1.2 slow", "failed 1.2 quick a", "halted 1.2",
			"failed 1.3 quick b", "failed 1.3 quick a", "halted 1.3",
		}, true},
		{"three tasks fail alike", []string{"failed a quick x", "failed b quick x", "failed c quick x"}, true},
		{"two items only", three("failed ITEM quick no such key")[:4], false},
		{"the commands worked for a while", three("failed ITEM slow no such key"), false},
		{"workers say what is missing", three("gaps ITEM quick"), false},
		{"one item is halted again and again", []string{"failed 1.1 quick x", "halted 1.1", "failed 1.1 quick x", "halted 1.1", "failed 1.1 quick x", "halted 1.1"}, false},
		{"one task is tried three times", []string{"retried a quick x", "retried a quick x", "failed a quick x"}, false},
		{"the reasons differ", []string{"failed a quick x", "failed b quick y", "failed c quick x", "failed d quick y"}, false},
		{"an item is approved between them", []string{
			"failed 1.1 quick x", "halted 1.1", "failed 1.2 quick x", "halted 1.2", "pass 1.3 quick", "approved 1.3", "failed 1.4 quick x", "halted 1.4",
		}, false},
		{"a person is asked between them", []string{"failed a quick x", "failed b quick x", "asked c quick", "failed d quick x"}, false},
		{"items that are halted without an attempt", []string{"halted 1.1", "halted 1.2", "halted 1.3"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, never := streak{most: 3, outcomes: map[string]outcome{}}, streak{outcomes: map[string]outcome{}}
			stops := false
			for _, e := range events(test.lines...) {
				require.False(t, stops, "before the end")
				stops = s.see(e)
				require.False(t, never.see(e))
			}
			require.Equal(t, test.stops, stops)
		})
	}
}
