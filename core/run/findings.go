package run

import "waybill/core"

// Findings record the issues of one reviewer, as digests, since its last approval, its last failure or the last new
// plan. "" means no issues.
type Findings struct {
	Last, Before string
	Same         int // submissions in a row with the issues of Last
	Swaps        int // returns in a row to the issues of Before
}

// found adds the issues of a new submission.
func (f Findings) found(issues string) Findings {
	next := Findings{Last: issues, Before: f.Last, Same: 1}
	switch issues {
	case f.Last:
		next.Same = f.Same + 1
	case f.Before:
		next.Swaps = f.Swaps + 1
	}
	return next
}

// corrected replaces the issues of a submission that the reviewer has already rejected. It does not count again.
func (f Findings) corrected(issues string) Findings {
	if issues == f.Last {
		return f
	}
	return Findings{Last: issues, Before: f.Before, Same: 1}
}

// looping reports whether reviews in a row found the same.
func (p Policy) looping(f Findings) bool { return f.Same >= p.ReviewLoopThreshold }

// alternating reports whether two sets of issues alternate.
func (p Policy) alternating(f Findings) bool { return f.Swaps >= p.swapLimit() }

// swapLimit returns the number of Swaps that blocks a run: each set was found as often as a single set for a loop. A
// threshold of 2 means A, B, A, B.
func (p Policy) swapLimit() int { return max(1, 2*(p.ReviewLoopThreshold-1)) }

// findings returns the Findings of one reviewer.
func (r Run) findings(reviewer core.Role) Findings { return r.Findings[reviewer-core.SpecReviewer] }

// Looping reports whether one reviewer found the same in reviews in a row.
func (r Run) Looping() bool {
	return r.Policy.looping(r.Findings[0]) || r.Policy.looping(r.Findings[1])
}

// Alternating reports whether two sets of findings of one reviewer alternate.
func (r Run) Alternating() bool {
	return r.Policy.alternating(r.Findings[0]) || r.Policy.alternating(r.Findings[1])
}
