package ledger

import (
	"fmt"
	"strings"
)

// Counts holds the counters of a run. The ledger copies them and counts nothing itself.
type Counts struct {
	Stalled    Stalled
	ReviewLoop ReviewLoop
	// Rejections is the number of reviews that wanted changes.
	Rejections int
}

// Counted returns the ledger with these counts. It has a replan hint exactly while a stall or a loop is flagged:
// outdated advice would mislead the next agent.
func (t TaskLedger) Counted(c Counts) TaskLedger {
	t = t.clone()
	t.Counts, t.ReplanHint = c, c.hint()
	return t
}

// hint explains the flagged counters and advises what to do. It is empty if no counter is flagged.
func (c *Counts) hint() string {
	var why []string
	if c.Stalled.Flagged {
		why = append(why, fmt.Sprintf("The work on this item does not move: %s without progress, and %d is the limit.",
			times(c.Stalled.ConsecutiveNonProgress, "outcome", "outcomes in a row"), c.Stalled.Threshold))
	}
	switch {
	case c.ReviewLoop.Alternating:
		why = append(why, "Two sets of issues take turns in the reviews: mending the one may be what brings back the other.")
	case c.ReviewLoop.Flagged:
		why = append(why, fmt.Sprintf("The reviews go in a circle: %s with the same findings, and %d is the limit.",
			times(c.ReviewLoop.Count, "review", "reviews in a row"), c.ReviewLoop.Threshold))
	}
	if why == nil {
		return ""
	}
	return strings.Join(why, " ") + " Before anybody is sent to it again, make the item smaller, loosen its constraints, " +
		"or provide what is missing; then replan."
}

func times(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
