package core

import (
	"fmt"
	"strings"
)

// A Halt says why a run is blocked.
type Halt string

// Why a run is blocked. The first four last until a new plan. The others hold as long as the counters and
// the last findings say so: they also end by themselves when the work moves on.
const (
	HaltInvalid     Halt = "invalid_results"     // the results of a role cannot be read
	HaltFailures    Halt = "worker_failures"     // the workers fail
	HaltRejections  Halt = "review_rejections"   // the work was rejected too often
	HaltGaveUp      Halt = "reviewer_gave_up"    // a reviewer cannot judge
	HaltStalled     Halt = "stalled"             // outcome after outcome brings it no further
	HaltReviewLoop  Halt = "review_loop"         // review after review finds the same
	HaltAlternation Halt = "alternating_reviews" // two sets of findings of one reviewer take turns
)

// Halts lists why a run can be blocked.
func Halts() []Halt {
	return []Halt{HaltInvalid, HaltFailures, HaltRejections, HaltGaveUp, HaltStalled, HaltReviewLoop, HaltAlternation}
}

// lasting reports whether only a new plan ends the halt.
func (h Halt) lasting() bool {
	switch h {
	case HaltInvalid, HaltFailures, HaltRejections, HaltGaveUp:
		return true
	case HaltStalled, HaltReviewLoop, HaltAlternation:
	}
	return false
}

func (h Halt) notice() NoticeKind {
	if h.lasting() {
		return NoticeRunBlocked
	}
	return NoticeRunStalled
}

// Stalling reports whether outcome after outcome brought the item no further.
func (r Run) Stalling() bool { return r.Counters.Stalled >= r.Policy.StalledThreshold }

// halted blocks the run until there is a new plan. What came first stays.
func (r Run) halted(why Halt) Run {
	if !r.Halt.lasting() {
		r.Halt = why
	}
	return r
}

// flagged gives the halt that holds as long as the facts flag it, and no longer.
func (r Run) flagged() Halt {
	switch {
	case r.Stalling():
		return HaltStalled
	case r.Looping():
		return HaltReviewLoop
	case r.Alternating():
		return HaltAlternation
	}
	return ""
}

// WhyBlocked says in one sentence without a full stop why the run is blocked, with what was counted. It is
// empty if the run is not.
func (r Run) WhyBlocked() string {
	p, n := r.Policy, r.Counters
	switch r.Halt {
	case "":
		return ""
	case HaltInvalid:
		return r.whyInvalid()
	case HaltFailures:
		return fmt.Sprintf("its workers failed %s, and its policy allows %s", times(n.WorkerFailures), atMost(p.WorkerFailures, "failure"))
	case HaltRejections:
		return fmt.Sprintf("its work was rejected %s, and its policy allows %s",
			times(n.ReviewRejections), atMost(p.ReviewRejections-1, "rejection"))
	case HaltGaveUp:
		return "a reviewer cannot judge it"
	case HaltStalled:
		return fmt.Sprintf("it was brought no further %s, and its policy allows %s",
			inARow(n.Stalled), atMost(p.StalledThreshold-1, "such outcome"))
	case HaltReviewLoop:
		return r.whyOf(p.looping, func(role Role, f Findings) string {
			found := "the same " + inARow(f.Same)
			if f.Same == 1 {
				found = "something"
			}
			return fmt.Sprintf("the %s found %s, and its policy allows %s",
				role, found, atMost(p.ReviewLoopThreshold-1, "such review"))
		})
	case HaltAlternation:
		return r.whyOf(p.alternating, func(role Role, f Findings) string {
			return fmt.Sprintf("two sets of issues of the %s take turns: it came back to the one before the last %s, and its policy allows %s",
				role, inARow(f.Swaps), atMost(p.swapLimit()-1, "such review"))
		})
	}
	panic("core: run " + r.ID + " is blocked by " + string(r.Halt))
}

// whyInvalid names every role that is past its limit: a new plan that ended the halt of one of them has
// left its count where it was.
func (r Run) whyInvalid() string {
	var why []string
	for role := Worker; role <= Roles; role++ {
		if count, limit := r.invalid(role); count >= limit {
			why = append(why, fmt.Sprintf("%s of the %s could not be read, and its policy allows %s",
				counted(count, "result"), role, atMost(limit-1, "such result")))
		}
	}
	return strings.Join(why, "; ")
}

// whyOf joins what there is to say of those reviewers whose findings are flagged.
func (r Run) whyOf(flagged func(Findings) bool, says func(Role, Findings) string) string {
	var why []string
	for _, role := range reviewers {
		if f := r.findings(role); flagged(f) {
			why = append(why, says(role, f))
		}
	}
	return strings.Join(why, "; ")
}

// times says how often something was.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// inARow says how often something was without anything else between.
func inARow(n int) string {
	if n == 1 {
		return "once"
	}
	return times(n) + " in a row"
}

// atMost writes how many of the noun are allowed.
func atMost(n int, noun string) string {
	switch {
	case n < 1:
		return "no " + noun
	case n == 1:
		return "one " + noun
	}
	return counted(n, noun)
}
