package run_test

import (
	"slices"

	"waybill/core/run"
)

// submissions are the sets of issues that one reviewer found, one for each submission of the work.
type submissions struct {
	sets  []string
	since int // which of them was put right last; nothing is counted beyond it
}

// add notes what was found, of work that the reviewer has rejected already or of new work.
func (s submissions) add(issues string, again bool) submissions {
	n := len(s.sets)
	switch {
	case !again || n == 0:
		s.sets = slices.Concat(s.sets, []string{issues})
	case s.sets[n-1] != issues:
		s.sets = slices.Concat(s.sets[:n-1], []string{issues})
		s.since = n - 1
	}
	return s
}

func (s submissions) findings() run.Findings {
	n := len(s.sets)
	if n == 0 {
		return run.Findings{}
	}
	f := run.Findings{Last: s.sets[n-1], Same: 1}
	if n > 1 {
		f.Before = s.sets[n-2]
	}
	for i := n - 2; i >= s.since && s.sets[i] == f.Last; i-- {
		f.Same++
	}
	for i := n - 1; i > max(1, s.since) && s.sets[i] == s.sets[i-2] && s.sets[i] != s.sets[i-1]; i-- {
		f.Swaps++
	}
	return f
}

// swapsAllowed returns how often two sets may take turns: until each of them was found as often as makes a
// loop of a single one, which is a, b, a, b for a threshold of 2.
func swapsAllowed(p run.Policy) int {
	turns := 2 * p.ReviewLoopThreshold
	return max(0, turns-len("ab")-1)
}
