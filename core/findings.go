package core

// Findings are what one reviewer found, from one submission of the work to the next, since it last approved,
// gave up, or the plan last wanted something else. The sets of issues are digests; "" for none.
type Findings struct {
	Last, Before string
	Same         int // how often in a row it found the Last
	Swaps        int // how often in a row it came back to what it had found Before
}

// found adds what was found in a new submission.
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

// corrected is what a reviewer says who looked once more at a submission that it has rejected already: it
// takes the place of what it said first, and counts for no second time.
func (f Findings) corrected(issues string) Findings {
	if issues == f.Last {
		return f
	}
	return Findings{Last: issues, Before: f.Before, Same: 1}
}

// looping reports whether review after review found the same.
func (p Policy) looping(f Findings) bool { return f.Same >= p.ReviewLoopThreshold }

// alternating reports whether two sets take turns.
func (p Policy) alternating(f Findings) bool { return f.Swaps >= p.swapLimit() }

// swapLimit is at which number of Swaps two sets take turns: when both were found as often as a single one
// has to be for a loop. With a threshold of 2 that is A, B, A, B.
func (p Policy) swapLimit() int { return max(1, 2*(p.ReviewLoopThreshold-1)) }

// findings gives those of one reviewer.
func (r Run) findings(reviewer Role) Findings { return r.Findings[reviewer-SpecReviewer] }

// Looping reports whether review after review of one reviewer found the same.
func (r Run) Looping() bool {
	return r.Policy.looping(r.Findings[0]) || r.Policy.looping(r.Findings[1])
}

// Alternating reports whether two sets of findings of one reviewer take turns.
func (r Run) Alternating() bool {
	return r.Policy.alternating(r.Findings[0]) || r.Policy.alternating(r.Findings[1])
}
