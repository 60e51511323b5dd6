package run

import (
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/proof"
)

// A Halt is the reason why a run is blocked.
type Halt string

// The halts. The first five last until a new plan or an unblock. The others also end when the work moves on.
const (
	HaltInvalid     Halt = "invalid_results"     // the results of a role cannot be read
	HaltFailures    Halt = "worker_failures"     // the workers fail
	HaltRejections  Halt = "review_rejections"   // the work was rejected too often
	HaltGaveUp      Halt = "reviewer_gave_up"    // a reviewer cannot judge
	HaltChecks      Halt = "check_failures"      // required checks failed too often
	HaltUntrusted   Halt = "untrusted_checks"    // a person must look at a check, or at the files that it protects
	HaltStalled     Halt = "stalled"             // outcomes without progress
	HaltReviewLoop  Halt = "review_loop"         // reviews in a row find the same
	HaltAlternation Halt = "alternating_reviews" // two sets of findings of one reviewer alternate
)

// lasting reports whether only a new plan or a person ends the halt.
func (h Halt) lasting() bool {
	switch h {
	case HaltInvalid, HaltFailures, HaltRejections, HaltGaveUp, HaltChecks:
		return true
	case HaltUntrusted, HaltStalled, HaltReviewLoop, HaltAlternation:
	}
	return false
}

func (h Halt) notice() core.NoticeKind {
	if h.lasting() || h == HaltUntrusted {
		return core.NoticeRunBlocked
	}
	return core.NoticeRunStalled
}

// Stalling reports whether the outcomes without progress have reached their limit.
func (r Run) Stalling() bool { return r.Counters.Stalled >= r.Policy.StalledThreshold }

// halted blocks the run. A run that is blocked keeps its first reason.
func (r Run) halted(why Halt) Run {
	if !r.Halt.lasting() {
		r.Halt = why
	}
	return r
}

// flagged returns the halt that lasts as long as its cause: an untrusted check, or a stall, a loop or an alternation at
// its limit.
func (r Run) flagged() Halt {
	switch {
	case r.Proof.State() == proof.Untrusted:
		return HaltUntrusted
	case r.Stalling():
		return HaltStalled
	case r.Looping():
		return HaltReviewLoop
	case r.Alternating():
		return HaltAlternation
	}
	return ""
}

// WhyBlocked returns the reason for the block as one sentence without a full stop, or "" if the run is not blocked.
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
	case HaltChecks:
		return fmt.Sprintf("its work failed its checks %s, at last %s, and its policy allows %s",
			times(n.CheckFailures), named(r.Proof.Red), atMost(p.CheckFailures-1, "such failure"))
	case HaltUntrusted:
		return whyUntrusted(r.Proof)
	case HaltStalled:
		return fmt.Sprintf("its outcomes brought no progress %s, and its policy allows %s",
			inARow(n.Stalled), atMost(p.StalledThreshold-1, "such outcome"))
	case HaltReviewLoop:
		return r.whyOf(p.looping, func(role core.Role, f Findings) string {
			found := "the same " + inARow(f.Same)
			if f.Same == 1 {
				found = "something"
			}
			return fmt.Sprintf("the %s found %s, and its policy allows %s",
				role, found, atMost(p.ReviewLoopThreshold-1, "such review"))
		})
	case HaltAlternation:
		return r.whyOf(p.alternating, func(role core.Role, f Findings) string {
			return fmt.Sprintf("two sets of issues of the %s alternate: it returned to the one before the last %s, and its policy allows %s",
				role, inARow(f.Swaps), atMost(p.swapLimit()-1, "such review"))
		})
	}
	panic("run: run " + r.ID + " is blocked by " + string(r.Halt))
}

// whyInvalid names every role beyond its limit. There can be several, because a new plan ends a halt without
// resetting the count.
func (r Run) whyInvalid() string {
	var why []string
	for role := core.Worker; role <= core.Roles; role++ {
		if count, limit := r.invalid(role); count >= limit {
			why = append(why, fmt.Sprintf("%s of the %s could not be read, and its policy allows %s",
				core.Counted(count, "result"), role, atMost(limit-1, "such result")))
		}
	}
	return strings.Join(why, "; ")
}

// whyUntrusted names the checks that a person must look at.
func whyUntrusted(p proof.Proof) string {
	var why []string
	if p.Untrusted.Has(proof.Facts) {
		why = append(why, "git could not be asked whether the result of its worker is true")
	}
	if p.Protected.Has(proof.Facts) {
		why = append(why, "its worker says again that it is done, and changed nothing")
	}
	if names := p.Untrusted.Without(proof.Facts); names != "" {
		why = append(why, fmt.Sprintf("no person trusts %s as it is now, so it was not run", named(names)))
	}
	if names := p.Protected.Without(proof.Facts); names != "" {
		why = append(why, fmt.Sprintf("the work changed files that %s protects, so its success proves nothing", named(names)))
	}
	return strings.Join(why, "; ")
}

// named returns the names of checks as text.
func named(names proof.Names) string {
	quoted := strings.Split(strings.Trim(fmt.Sprintf("%q", names.List()), "[]"), " ")
	return "check " + strings.Join(quoted, ", ")
}

// whyOf joins the sentences about the reviewers with findings at a limit.
func (r Run) whyOf(flagged func(Findings) bool, says func(core.Role, Findings) string) string {
	var why []string
	for _, role := range reviewers {
		if f := r.findings(role); flagged(f) {
			why = append(why, says(role, f))
		}
	}
	return strings.Join(why, "; ")
}

// times returns "once" or "n times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// inARow returns the number of times with "in a row".
func inARow(n int) string {
	if n == 1 {
		return "once"
	}
	return times(n) + " in a row"
}

// atMost returns a limit with its noun: "no result", "one result", "2 results".
func atMost(n int, noun string) string {
	switch {
	case n < 1:
		return "no " + noun
	case n == 1:
		return "one " + noun
	}
	return core.Counted(n, noun)
}
